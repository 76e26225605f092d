/** Entry point of `acg`: the process around it, and its end. */
import { homedir } from 'node:os';
import { runCommandLine } from './program.js';
import { EXIT_CODES } from './terminal/cli-error.js';

// Whoever reads the output may leave (`acg logs | head`): that ends this program, and is no failure of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`acg: cannot write what was asked for: ${error.message}\n`);
  process.exit(EXIT_CODES.failed);
});
process.stderr.on('error', () => {}); // nobody is left to be told

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  cwd: workingDirectory(),
  home: homedir(),
  platform: process.platform,
  uid: process.getuid?.(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
/** One that somebody has deleted is none: there is no file of a project above it. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return homedir();
  }
}

// A stream that somebody else keeps open must not keep a finished command.
process.stdin.unref?.();
