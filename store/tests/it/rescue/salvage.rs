//! Salvage: all that still verifies, and a list of the rest.

use std::fs;

use turnfold_store::{BranchName, ErrorKind, RescueError, Store, Totals};

use super::{contents, copy_dir, fill, names, unobserved};
use crate::game::{branch, name};

