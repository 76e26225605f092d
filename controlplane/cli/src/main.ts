/** Entry point of `acg`: connects the program to the process. */
import { homedir } from 'node:os';
import { runCommandLine } from './program.js';
import { EXIT_CODES } from './terminal/cli-error.js';

// A reader that closes the pipe early (`acg logs | head`) ends this program without a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`acg: cannot write the output: ${error.message}\n`);
  process.exit(EXIT_CODES.failed);
});
process.stderr.on('error', () => {}); // there is no other output

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
/** A working directory that was deleted has no parent to search for project files. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return homedir();
  }
}

// An open stdin must not keep a finished command running.
process.stdin.unref?.();
