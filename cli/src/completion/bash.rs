//! The completion script for bash.
//!
//! Bash splits `duel@flank:3` at `@` and `:`. The script joins the words before it calls the program. From each answer
//! it offers only the part after the last such character, because bash replaces only that part. Bash does not split
//! within quotes; elsewhere the script escapes answers with spaces.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::env::{Bash as Known, EnvCompleter};

const SCRIPT: &str = r#"_NAME() {
    local IFS=$'\013' rest="$COMP_LINE" words=() trimmed piece i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece="${COMP_WORDS[i]}"
        trimmed="${rest#"${rest%%[![:space:]]*}"}"
        if ((${#words[@]} == 0)) || [[ "$trimmed" != "$rest" ]]; then
            words+=("$piece")
        else
            words[${#words[@]} - 1]+="$piece"
        fi
        rest="${trimmed#"$piece"}"
    done
    local index=$((${#words[@]} - 1))
    local typed="${words[index]}"
    local head="${typed%"${typed##*[@:=]}"}" quoted=""
    if [[ "$typed" == [\"\']* ]]; then
        quoted=1
    fi
    if [[ -n "$quoted" || -n "$head" && "$COMP_WORDBREAKS" != *"${head: -1}"* ]]; then
        head=""
    fi
    COMPREPLY=($(VARIABLE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$index" COMPLETER -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
    if [[ -z "$quoted" ]]; then
        for i in "${!COMPREPLY[@]}"; do
            if [[ "${COMPREPLY[i]}" == *[^A-Za-z0-9@%+=:,./_-]* ]]; then
                COMPREPLY[i]="$(printf %q "${COMPREPLY[i]}")"
            fi
        done
    fi
    if [[ "${COMPREPLY-}" =~ [=/:@]$ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -F _NAME BINARY
"#;

pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        Known.name()
    }

    fn is(&self, name: &str) -> bool {
        Known.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        binary: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let script = SCRIPT.replace("VARIABLE", variable).replace("COMPLETER", completer);
        out.write_all(script.replace("BINARY", binary).replace("NAME", name).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        Known.write_complete(command, words, current_dir, out)
    }
}
