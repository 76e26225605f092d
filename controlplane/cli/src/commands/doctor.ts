/** `acg doctor`: one line for each thing that can be wrong, and what to do about it. */
import type { Command } from 'commander';
import { type Check, controlPlaneChecks, environmentChecks, gatewayChecks } from '../doctor/checks.js';
import { EXIT } from '../terminal/failure.js';
import { printable } from '../terminal/printable.js';
import type { Tree } from './tree.js';

export function doctorCommand(command: Command, { begin, exit }: Tree): void {
  command
    .option('--agent <agent>', 'also test the keys of its accounts: one call each')
    .action(async ({ agent }: { readonly agent?: string }) => {
      const run = begin();
      const checks: Check[] = [];
      for (const part of [controlPlaneChecks(run), gatewayChecks(run, agent), environmentChecks(run)]) {
        for await (const check of part) {
          checks.push(check);
          if (run.json) continue;
          const mark = check.ok ? run.paint('green', '✓') : run.paint('red', '✗');
          run.out(`${mark} ${printable(`${check.name}: ${check.detail}`)}`);
          if (check.fix !== null) run.out(`  → ${printable(check.fix)}`);
        }
      }
      const ok = checks.every((check) => check.ok);
      run.show({ ok, checks }, () => {});
      if (!ok) exit(EXIT.failed);
    });
}
