/** Entry point of `acg`: the process around it, and its end. */
import { homedir } from 'node:os';
import { runCommandLine } from './program.js';

// Whoever reads the output may leave (`acg logs | head`): that ends this program, and is no failure of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  platform: process.platform,
  uid: process.getuid?.(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
// A stream that somebody else keeps open must not keep a finished command.
process.stdin.unref?.();
