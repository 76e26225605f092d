/** `acg doctor`: checks everything that a call needs and prints a fix for each failed check. */
import type { Command } from 'commander';
import { type CheckResult, checkControlPlane, checkDataPlane, checkEnvironment } from '../doctor/checks.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { EXIT_CODES } from '../terminal/cli-error.js';

export function registerDoctorCommand(command: Command, { begin, setExitCode: exit }: ProgramInterface): void {
  command
    .option('--agent <agent>', 'also test the keys of its accounts: one call each')
    .action(async ({ agent }: { readonly agent?: string }) => {
      const run = begin();
      const checks: CheckResult[] = [];
      const report = async (part: AsyncIterable<CheckResult>): Promise<void> => {
        for await (const check of part) {
          checks.push(check);
          if (!run.isJson) run.printCheck(check);
        }
      };
      await report(checkControlPlane(run));
      const isReachable = checks.some(({ name, ok }) => name === 'clock' && ok !== null);
      await report(checkDataPlane(run, { agent, isReachable }));
      await report(checkEnvironment(run));
      const ok = checks.every((check) => check.ok === true);
      run.printResult({ ok, checks }, () => {});
      if (!ok) exit(EXIT_CODES.failed);
    });
}
