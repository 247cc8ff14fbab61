//! `turnfold checkpoint`: signed statements of which entries a branch has (TR-11 to TR-16). Each verb has a file.

mod cosign;
mod prove;
mod sign;

verbs! {
    /// Sign which entries a branch has, prove one, cosign as a witness
    #[command(after_help = "Example: turnfold checkpoint sign duel --key ann.key -o duel.checkpoint")]
    CheckpointCommand {
        Sign(sign::Args) => sign::run,
        Prove(prove::Args) => prove::run,
        Cosign(cosign::Args) => cosign::run,
    }
}
