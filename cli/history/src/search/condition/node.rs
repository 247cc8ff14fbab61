//! The tree of a condition.

use std::fmt;

use super::comparison::ViewComparison;

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

    /// Writes operands, with parentheses around one that joins others.
    fn write_joined(out: &mut fmt::Formatter<'_>, nodes: &[Self], operator: &str) -> fmt::Result {
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                out.write_str(operator)?;
            }
            match node {
                Self::Compares(_) | Self::Not(_) => write!(out, "{node}")?,
                Self::All(_) | Self::Any(_) => write!(out, "({node})")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compares(comparison) => comparison.fmt(out),
            Self::Not(node) if matches!(**node, Self::Not(_)) => write!(out, "!{node}"),
            Self::Not(node) => write!(out, "!({node})"),
            Self::All(nodes) => Self::write_joined(out, nodes, " && "),
            Self::Any(nodes) => Self::write_joined(out, nodes, " || "),
        }
    }
}
