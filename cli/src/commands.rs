//! The verbs of the command line. Each verb, or family of verbs, has a file.

/// Makes the enum of verbs and the function that runs one. The variants have no documentation, because it would replace
/// the help of their arguments. The macro has to come before the modules that use it.
macro_rules! verbs {
    ($(#[$help:meta])* $name:ident { $($(#[$attribute:meta])* $verb:ident($args:ty) => $run:path,)+ }) => {
        #[derive(Debug, clap::Subcommand)]
        $(#[$help])*
        pub(crate) enum $name { $($(#[$attribute])* $verb($args),)+ }

        impl $name {
            pub(crate) fn run(
                &self,
                context: &mut $crate::context::Context,
            ) -> $crate::failure::Result<$crate::failure::ExitStatus> {
                match self { $(Self::$verb(args) => $run(args, context),)+ }
            }
        }
    };
}

pub(crate) mod amend;
pub(crate) mod audit;
pub(crate) mod bisect;
pub(crate) mod blame;
pub(crate) mod bless;
pub(crate) mod branch;
pub(crate) mod bundle;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod game;
pub(crate) mod import;
pub(crate) mod join;
pub(crate) mod log;
pub(crate) mod mail;
pub(crate) mod man;
pub(crate) mod matches;
pub(crate) mod migrate;
pub(crate) mod new;
pub(crate) mod play;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod shrink;
pub(crate) mod simulate;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod tour;
pub(crate) mod verify;

use turnfold_referee::ModuleFolders;
#[cfg(feature = "modules")]
use turnfold_referee::Referees;

use crate::completion;
use crate::context::{Context, StoreAddress};
use crate::failure::{ExitStatus, Failure, Result};
#[cfg(feature = "modules")]
use crate::files;
use crate::grammar::GlobalArgs;
use crate::guides::{self, Guide, VerbHelp};
use crate::output::{Format, Output};

verbs! {
    Command {
        New(new::Args) => new::run,
        Play(play::Args) => play::run,
        Show(show::Args) => show::run,
        Legal(show::LegalArgs) => show::legal,
        Ask(show::AskArgs) => show::ask,
        Rules(rules::Args) => rules::run,
        #[command(subcommand)] Game(game::GameCommand) => game::GameCommand::run,
        Log(log::Args) => log::run,
        Matches(matches::Args) => matches::run,
        Replay(replay::Args) => replay::run,
        Rename(delete::RenameArgs) => delete::rename,
        Migrate(migrate::Args) => migrate::run,
        Delete(delete::Args) => delete::run,
        Branch(branch::Args) => branch::run,
        Amend(amend::Args) => amend::run,
        Diff(diff::Args) => diff::run,
        Export(export::Args) => export::run,
        Import(import::Args) => import::run,
        Find(find::Args) => find::run,
        Table(table::Args) => table::run,
        Bisect(bisect::Args) => bisect::run,
        Shrink(shrink::Args) => shrink::run,
        Blame(blame::Args) => blame::run,
        Bless(bless::Args) => bless::run,
        Check(check::Args) => check::run,
        Simulate(simulate::Args) => simulate::run,
        Verify(verify::Args) => verify::run,
        #[command(subcommand)] Key(checkpoint::KeyCommand) => checkpoint::KeyCommand::run,
        #[command(subcommand)] Checkpoint(checkpoint::CheckpointCommand) => checkpoint::CheckpointCommand::run,
        Bundle(bundle::Args) => bundle::run,
        Audit(audit::Args) => audit::run,
        #[command(subcommand)] Store(store::StoreCommand) => store::StoreCommand::run,
        Serve(serve::Args) => serve::run,
        Join(join::Args) => join::run,
        #[command(subcommand)] Mail(mail::MailCommand) => mail::MailCommand::run,
        Tour(tour::Args) => tour::run,
        Completions(completion::Args) => completion::run,
        Man(man::Args) => man::run,
        #[command(skip)] Guide(&'static Guide) => guides::print,
        #[command(skip)] VerbHelp(VerbHelp) => guides::print_help,
    }
}

#[cfg(feature = "modules")]
const CHILDREN_OF_SERVICE: usize = 4;

impl Command {
    /// Returns the folders of modules: the named ones, or else `modules` in the store's directory; `store restore`
    /// takes the directory that it restores to. The program's own folder is always added (MD-2). Verbs that play with
    /// others use only modules that have passed the laws (MD-7).
    pub(crate) fn modules(&self, global: &GlobalArgs) -> ModuleFolders {
        let store = match self {
            Self::Store(store::StoreCommand::Restore(args)) => &args.to,
            _ => &global.store,
        };
        let folders = match store {
            StoreAddress::Dir(dir) if global.modules.is_empty() => vec![dir.join("modules")],
            _ => global.modules.clone(),
        };
        let folders = ModuleFolders::new(folders).with_own();
        if matches!(self, Self::Serve(_) | Self::Mail(_)) { folders.passed_only() } else { folders }
    }

    pub(crate) fn plays_with_others(&self) -> bool {
        use checkpoint::CheckpointCommand::Cosign;
        matches!(self, Self::Serve(_) | Self::Mail(_) | Self::Checkpoint(Cosign(_)))
    }

    /// Returns the referees that the user named. Verbs that play with others use no others (RF-3).
    #[cfg(feature = "modules")]
    pub(crate) fn referees(&self, global: &GlobalArgs) -> Result<Referees> {
        let mut file = global.referees.clone();
        if file.is_none() && !self.plays_with_others() {
            file = files::in_configuration("referees.toml").filter(|file| file.exists());
        }
        let children = if matches!(self, Self::Serve(_)) { CHILDREN_OF_SERVICE } else { 1 };
        let mut referees = Referees::new(children);
        if let Some(file) = file {
            referees.add_file(&file).map_err(unusable_referee)?;
        }
        for given in &global.referee {
            referees.add(given).map_err(unusable_referee)?;
        }
        if let Some(seconds) = global.referee_seconds {
            referees.set_seconds(seconds);
        }
        Ok(referees)
    }

    pub(crate) fn is_paged(&self, output: &Output) -> bool {
        match self {
            Self::Log(_) | Self::Diff(_) | Self::Blame(_) | Self::Rules(_) | Self::Guide(_) => true,
            Self::Replay(args) => args.is_paged(),
            Self::Bless(args) => args.is_paged(output),
            _ => false,
        }
    }
}

#[cfg(feature = "modules")]
fn unusable_referee(why: String) -> Failure {
    Failure::usage(why).hint("see `turnfold help referees`")
}

pub(crate) fn run(command: &Command, context: &mut Context) -> Result<ExitStatus> {
    let has_picture = match command {
        Command::Show(_) => true,
        Command::Table(args) => args.has_picture(),
        _ => false,
    };
    if context.output.format() == Format::Svg && !has_picture {
        let message = "`--format svg` is for `show` and `table groups` only";
        return Err(Failure::usage(message).hint("use `text` or `json`"));
    }
    command.run(context)
}
