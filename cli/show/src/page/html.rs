//! HTML: escaping text, and filling in a template.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use turnfold_history::text::printable;

/// Escapes text for HTML. Characters that could reorder or hide text on the screen are written as escapes.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Replaces each `{{name}}` of a template by its value. Values are not searched for names.
///
/// # Panics
/// If the template has a name without a value: a mistake in this crate, which every test of pages finds.
pub(super) fn fill(template: &str, values: &[(&str, Cow<'_, str>)]) -> String {
    let length: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut filled = String::with_capacity(template.len() + length);
    let mut parts = template.split("{{");
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("a name ends with `}}`");
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(&value.expect("every name has a value").1);
        filled.push_str(rest);
    }
    filled
}

/// Returns the source expression of a script or style for a content security policy (VW-24).
pub(super) fn source_hash(content: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(content)))
}

/// A writer for JSON inside a script element. It writes each `<` as `\u003c`, so that no text can end the element.
pub(super) struct ScriptJson<W>(pub(super) W);

impl<W: Write> Write for ScriptJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (index, part) in bytes.split(|byte| *byte == b'<').enumerate() {
            if index > 0 {
                self.0.write_all(br"\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_in_once_and_values_are_not_looked_into() {
        let values = [("a", "{{b}}".into()), ("b", "<b>".into())];
        assert_eq!(fill("<p>{{a}}{{b}}{{a}}</p>", &values), "<p>{{b}}<b>{{b}}</p>");
    }

    #[test]
    fn text_is_shown_as_it_is_and_marks_of_direction_are_written_out() {
        assert_eq!(
            text("<b a=\"1\">'&\u{202e}\0\n"),
            "&lt;b a=&quot;1&quot;&gt;&#39;&amp;\\u{202e}\\u{0}\\u{a}"
        );
    }

    #[test]
    fn json_in_a_script_holds_no_angle_bracket_and_means_the_same() {
        let mut bytes = Vec::new();
        ScriptJson(&mut bytes).write_all(br#"["</script>","<!--<"]"#).unwrap();
        assert_eq!(bytes, br#"["\u003c/script>","\u003c!--\u003c"]"#);
        let read: Vec<String> = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(read, ["</script>", "<!--<"]);
    }

    #[test]
    fn a_source_is_named_as_browsers_compute_it() {
        assert_eq!(source_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
