//! `turnfold mail`: hosts and plays matches by mail.

mod host;
mod open;
mod post;
mod run;
mod take;
mod write;

verbs! {
    /// Host and play matches by mail: papers, deadlines and letters
    ///
    /// A match by mail consists of a game and its desk, a match NAME.desk with the players' signed papers, the host's clock and
    /// all decisions. turnfold sends and receives no mail: the host saves mails as files, `mail take` records their papers, `mail
    /// run` executes a turn that is ready, and letters to the players wait in the outbox. A player saves the bundle attached to
    /// a letter, and `mail write` makes a paper from it to send back.
    #[command(after_help = "Example: turnfold mail run duel --key ann.key")]
    MailCommand {
        Open(open::Args) => open::run,
        Take(take::Args) => take::run,
        Run(run::Args) => run::run,
        Status(run::StatusArgs) => run::status,
        Replace(host::ReplaceArgs) => host::replace,
        Recover(host::RecoverArgs) => host::recover,
        Broadcast(host::BroadcastArgs) => host::broadcast,
        Write(write::Args) => write::run,
    }
}
