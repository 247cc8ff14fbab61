//! Reads origins of services. Letters contain one too, so this also belongs to builds without a client.

pub(crate) fn read_origin(text: &str) -> Result<String, String> {
    if let Some(host) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    {
        return Ok(text.into());
    }
    Err("expected an origin such as `https://play.example`, with nothing behind the host and its port".into())
}
