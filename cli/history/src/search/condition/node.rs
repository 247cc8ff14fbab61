//! The tree of a condition.

use std::fmt;

use super::comparison::ViewComparison;

/// A comparison, or conditions joined by operators.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Compares(ViewComparison),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Node {
    /// Returns `true` if the condition holds. Every comparison is asked, in order, because the survey needs each one.
    pub(super) fn holds(&self, ask: &mut dyn FnMut(&ViewComparison) -> bool) -> bool {
        match self {
            Self::Compares(comparison) => ask(comparison),
            Self::Not(node) => !node.holds(ask),
            Self::All(nodes) => {
                let mut holds = true;
                for node in nodes {
                    holds &= node.holds(ask);
                }
                holds
            }
            Self::Any(nodes) => {
                let mut holds = false;
                for node in nodes {
                    holds |= node.holds(ask);
                }
                holds
            }
        }
    }

    /// Writes an operand, with parentheses if it joins others.
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
