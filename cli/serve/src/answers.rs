//! Limits the bytes of long responses in memory, of one token and in total (SV-31).
//!
//! A client that reads slowly keeps its response in memory until it has read it or its connection is closed.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;
use turnfold_core::Digest;

use crate::app::lock;
use crate::problem::{ApiResult, Problem, ProblemCode};

/// Responses with more bytes are counted. A connection may buffer as many bytes of any response.
pub(crate) const LONG: u64 = 64 << 10;

const PART: usize = 64 << 10;

/// The most bytes of long responses at once, in total and of one token. A single response may have more.
pub(crate) const ANSWERS_MAX: u64 = 64 << 20;
const ANSWERS_OF_TOKEN_MAX: u64 = 32 << 20;

#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<AnswerBytes>>);

#[derive(Default)]
struct AnswerBytes {
    bytes: u64,
    by_token: BTreeMap<Digest, u64>,
    refused: u64,
}

impl AnswerBytes {
    fn require_room(&mut self, token: Option<Digest>, bytes: u64) -> ApiResult<()> {
        // The first response always has room.
        let of_token = token.and_then(|token| self.by_token.get(&token).copied()).unwrap_or(0);
        if of_token > 0 && of_token + bytes > ANSWERS_OF_TOKEN_MAX {
            self.refused += 1;
            let detail = "too many long answers with this token are still being read; read one first";
            return Err(Problem::new(ProblemCode::SlowDown, detail));
        }
        if self.bytes > 0 && self.bytes + bytes > ANSWERS_MAX {
            self.refused += 1;
            return Err(Problem::overloaded("too many long answers are still being read"));
        }
        Ok(())
    }
}

impl Answers {
    pub(crate) fn held(&self) -> (u64, u64) {
        let held = lock(&self.0);
        (held.bytes, held.refused)
    }

    pub(crate) fn require_room(&self, token: Option<Digest>) -> ApiResult<()> {
        lock(&self.0).require_room(token, LONG)
    }

    pub(crate) fn begin(&self, token: Option<Digest>, bytes: u64) -> ApiResult<AnswerPlace> {
        let mut held = lock(&self.0);
        held.require_room(token, bytes)?;
        held.bytes += bytes;
        if let Some(token) = token {
            *held.by_token.entry(token).or_default() += bytes;
        }
        drop(held);
        Ok(AnswerPlace { token, bytes, answers: self.clone() })
    }
}

pub(crate) struct AnswerPlace {
    token: Option<Digest>,
    bytes: u64,
    answers: Answers,
}

impl Drop for AnswerPlace {
    fn drop(&mut self) {
        let mut held = lock(&self.answers.0);
        held.bytes -= self.bytes;
        if let Some(token) = self.token
            && let Some(bytes) = held.by_token.get_mut(&token)
        {
            *bytes -= self.bytes;
            if *bytes == 0 {
                held.by_token.remove(&token);
            }
        }
    }
}

pub(crate) struct CountedBody {
    rest: Bytes,
    body: Body,
    left: u64,
    _place: AnswerPlace,
}

impl CountedBody {
    pub(crate) fn new(body: Body, bytes: u64, place: AnswerPlace) -> Self {
        Self { rest: Bytes::new(), body, left: bytes, _place: place }
    }
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        let length = self.rest.len().min(PART);
        let part = self.rest.split_to(length);
        self.left = self.left.saturating_sub(length as u64);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

pub(crate) struct ChannelBody {
    /// A part that was received before the body was made.
    first: Option<Bytes>,
    receiver: mpsc::Receiver<io::Result<Bytes>>,
}

impl ChannelBody {
    pub(crate) fn new(receiver: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { first: None, receiver }
    }

    pub(crate) fn beginning_with(first: Bytes, receiver: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { first: Some(first), receiver }
    }
}

impl http_body::Body for ChannelBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        self.receiver.poll_recv(context).map(|part| part.map(|part| part.map(Frame::data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_and_all_have_room_for_so_much_and_one_answer_more() {
        let (answers, one) = (Answers::default(), Some(Digest::new([1; 32])));
        let whole = answers.begin(one, ANSWERS_OF_TOKEN_MAX + 1).ok().unwrap();
        assert!(answers.begin(one, 1).is_err_and(|problem| problem.code() == ProblemCode::SlowDown));
        let other = Some(Digest::new([2; 32]));
        let _rest = answers.begin(other, ANSWERS_MAX - ANSWERS_OF_TOKEN_MAX - 1).ok().unwrap();
        let third = Some(Digest::new([3; 32]));
        assert!(answers.begin(third, 1).is_err_and(|problem| problem.code() == ProblemCode::Overloaded));
        assert_eq!(answers.held(), (ANSWERS_MAX, 2));
        drop(whole);
        assert!(answers.begin(one, 1).is_ok());
    }
}
