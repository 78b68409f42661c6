//! The socket between the host and a launcher.
//!
//! Owns how a plan and the three streams of a program get across, and how reports come back. The
//! socket is the launcher's standard input, so that starting it passes no other descriptor on, and
//! the program never sees it. It must never trust a length.

use super::plan::{Plan, Report};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The most bytes of a plan: a full argument list, and the exceptions of a large workspace.
const MOST_PLAN_BYTES: usize = 16 << 20;

/// The most bytes of one report.
pub(super) const MOST_REPORT_BYTES: usize = 4 << 10;

/// Standard input, output and error.
pub(super) type Streams = [OwnedFd; 3];

/// Sends the streams and the length of the plan: a few bytes, which a new socket takes at once.
pub(super) fn send_streams(
    socket: &UnixStream,
    streams: &Streams,
    plan_bytes: usize,
) -> io::Result<()> {
    let length = u32::try_from(plan_bytes)
        .ok()
        .filter(|_| plan_bytes <= MOST_PLAN_BYTES)
        .ok_or_else(|| io::Error::other("the plan of the process is too large"))?
        .to_le_bytes();
    let borrowed: [BorrowedFd<'_>; 3] =
        [streams[0].as_fd(), streams[1].as_fd(), streams[2].as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("no room for three descriptors"));
    }
    let sent = rustix::net::sendmsg(
        socket,
        &[IoSlice::new(&length)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    if sent != length.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(())
}

/// Receives what [`send_streams`] and the plan after it say.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(Plan, Streams)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut length)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let streams: Vec<OwnedFd> = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    let streams = Streams::try_from(streams).map_err(|_| malformed("three descriptors"))?;
    let wanted = u32::from_le_bytes(length) as usize;
    if received.bytes != length.len() || wanted > MOST_PLAN_BYTES {
        return Err(malformed("a length"));
    }
    let mut bytes = Vec::new();
    let mut rest = socket.take(wanted as u64);
    rest.read_to_end(&mut bytes)?;
    let plan = serde_json::from_slice(&bytes).map_err(|_| malformed("a plan"))?;
    Ok((plan, streams))
}

/// Tells the host. A host that is gone learns nothing, and the process ends for that reason.
pub(super) fn report(mut socket: &UnixStream, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.truncate(MOST_REPORT_BYTES);
        line.push(b'\n');
        let _ = socket.write_all(&line);
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the host sent no {what}"),
    )
}
