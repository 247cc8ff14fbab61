//! `mail run`: the clock, and a turn that is ready carried out in the game (PM-27).

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Command;

use super::error::MailError;
use super::execute_turn::carry_out;
use super::host::MailHost;
use super::host_dice::TableDice;
use super::run_report::RunReport;

impl MailHost<'_> {
    /// Goes on as far as it goes at this time: lets the deadline pass, carries out a turn that is ready and begins the
    /// next. What is done already is not done again, so a run that was killed is made good by the next one. Of recorded
    /// dice the values come from `table`.
    ///
    /// # Errors
    /// [`MailError::Refused`] where the game is not the one that the desk knows; what is wrong with the dice, the store
    /// or a log.
    pub fn run(&mut self, at: DeskTime, table: &mut TableDice<'_>) -> Result<RunReport, MailError> {
        let mut report = RunReport::default();
        let state = self.desk.state();
        let has_come = state.is_open() && state.deadline().is_some_and(|deadline| at >= deadline);
        // PM-12
        if has_come && state.clock().is_none_or(|clock| at > clock) {
            report.effects.extend(self.decide(vec![Command::Clock(at)])?);
        }
        if let Some(plan) = self.desk.plan().cloned() {
            carry_out(self, &plan, at, table, &mut report)?;
        }
        Ok(report)
    }
}
