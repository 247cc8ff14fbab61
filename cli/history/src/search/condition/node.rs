//! Comparisons that are joined.

use std::fmt;

use super::comparison::ViewComparison;

/// A comparison, or conditions that are joined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Compares(ViewComparison),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Node {
    /// Returns `true` if it holds, when each of its comparisons was asked, in order.
    pub(super) fn holds(&self, ask: &mut dyn FnMut(&ViewComparison) -> bool) -> bool {
        match self {
            Self::Compares(comparison) => ask(comparison),
            Self::Not(node) => !node.holds(ask),
            Self::All(nodes) => nodes.iter().filter(|node| node.holds(ask)).count() == nodes.len(),
            Self::Any(nodes) => nodes.iter().filter(|node| node.holds(ask)).count() > 0,
        }
    }

    /// Writes it, in parentheses where it joins others.
    fn write_part(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compares(_) | Self::Not(_) => write!(out, "{self}"),
            Self::All(_) | Self::Any(_) => write!(out, "({self})"),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, operator) = match self {
            Self::Compares(comparison) => return write!(out, "{comparison}"),
            Self::Not(node) => {
                return match &**node {
                    Self::Not(_) => write!(out, "!{node}"),
                    node => write!(out, "!({node})"),
                };
            }
            Self::All(nodes) => (nodes, " && "),
            Self::Any(nodes) => (nodes, " || "),
        };
        for (number, node) in nodes.iter().enumerate() {
            out.write_str(if number == 0 { "" } else { operator })?;
            node.write_part(out)?;
        }
        Ok(())
    }
}
