/** `acg doctor`: checks everything that a call needs and prints a fix for each failed check. */
import type { Command } from 'commander';
import { type CheckResult, checkControlPlane, checkDataPlane, checkEnvironment } from '../doctor/checks.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { EXIT_CODES } from '../terminal/cli-error.js';
import { escapeControlCharacters } from '../terminal/escape-control-characters.js';

export function registerDoctorCommand(command: Command, { begin, setExitCode: exit }: ProgramInterface): void {
  command
    .option('--agent <agent>', 'also test the keys of its accounts: one call each')
    .action(async ({ agent }: { readonly agent?: string }) => {
      const run = begin();
      const checks: CheckResult[] = [];
      for (const part of [checkControlPlane(run), checkDataPlane(run, agent), checkEnvironment(run)]) {
        for await (const check of part) {
          checks.push(check);
          if (run.isJson) continue;
          const mark = check.ok ? run.applyStyle('green', '✓') : run.applyStyle('red', '✗');
          run.printLine(`${mark} ${escapeControlCharacters(`${check.name}: ${check.detail}`)}`);
          if (check.fix !== null) run.printLine(`  → ${escapeControlCharacters(check.fix)}`);
        }
      }
      const ok = checks.every((check) => check.ok);
      run.printResult({ ok, checks }, () => {});
      if (!ok) exit(EXIT_CODES.failed);
    });
}
