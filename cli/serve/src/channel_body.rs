//! A body whose parts come through a channel.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc;

/// A body that ends when its sender is dropped.
pub(crate) struct ChannelBody {
    /// A part that was received before the body was made.
    first: Option<Bytes>,
    receiver: mpsc::Receiver<io::Result<Bytes>>,
}

impl ChannelBody {
    pub(crate) fn new(receiver: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { first: None, receiver }
    }

    /// Returns a body whose first part was received before.
    pub(crate) fn beginning_with(first: Bytes, receiver: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { first: Some(first), receiver }
    }
}

impl Body for ChannelBody {
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
