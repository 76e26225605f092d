// Makes src/generated/gateway.{js,d.ts} from src/gateway.proto: the typed codec both planes share.
// Skipped while the output is newer than the .proto file.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeFile } from '../scripts/place-file.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, 'src/gateway.proto');
const target = join(here, 'src/generated/gateway.js');
const types = join(here, 'src/generated/gateway.d.ts');

const fresh = existsSync(target) && statSync(target).mtimeMs > statSync(source).mtimeMs;
if (!fresh) {
  mkdirSync(dirname(target), { recursive: true });
  const pbjs = join(dirname(createRequire(import.meta.url).resolve('protobufjs-cli/package.json')), 'bin/pbjs');
  execFileSync(
    process.execPath,
    // Numbers instead of Long: nano-dollars and times stay below 2^53 (checked where they are read).
    [
      pbjs,
      '-t',
      'static-module',
      '-w',
      'esm',
      '--force-number',
      '--no-delimited',
      '--no-typeurl',
      '--no-verify',
      '--dts',
      '-o',
      target,
      source,
    ],
    { stdio: 'inherit' },
  );
}
// tsc does not copy hand-made .js beside .d.ts: place both where dist expects them.
const out = join(here, 'dist/generated');
mkdirSync(out, { recursive: true });
placeFile(target, join(out, 'gateway.js'));
placeFile(types, join(out, 'gateway.d.ts'));
