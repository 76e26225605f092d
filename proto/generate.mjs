// Generates src/generated/ from src/gateway.proto: gateway.{js,d.ts}, the typed codec both planes share, and usage-record.ts.
// Skipped while the output is newer than the .proto file.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { placeFile } from '../scripts/copy-if-changed.mjs';
import { usageRecordSource } from './generate-usage-record.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, 'src/gateway.proto');
const target = join(here, 'src/generated/gateway.js');
const types = join(here, 'src/generated/gateway.d.ts');

const usageRecord = join(here, 'src/generated/usage-record.ts');
const sources = [source, join(here, 'generate.mjs'), join(here, 'generate-usage-record.mjs')];
const changedMs = Math.max(...sources.map((path) => statSync(path).mtimeMs));
const fresh = [target, usageRecord].every((path) => existsSync(path) && statSync(path).mtimeMs > changedMs);
if (!fresh) {
  mkdirSync(dirname(target), { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  const pbjs = join(dirname(resolve('protobufjs-cli/package.json')), 'bin/pbjs');
  const root = new protobuf.Root();
  root.resolvePath = (_from, path) => (path === source ? path : resolve(`protobufjs/${path}`));
  const { UsageRecord } = root.loadSync(source).lookup('acg.v1');
  writeFileSync(usageRecord, usageRecordSource(UsageRecord));
  execFileSync(
    process.execPath,
    // Numbers instead of Long: nano-dollars and times stay below 2^53 (the readers check this).
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
      '--sparse', // without the messages of descriptor.proto
      '-p',
      dirname(resolve('protobufjs/package.json')),
      '--dts',
      '-o',
      target,
      source,
    ],
    { stdio: 'inherit' },
  );
}
// tsc does not copy .js files beside .d.ts: copies both to dist.
const out = join(here, 'dist/generated');
mkdirSync(out, { recursive: true });
placeFile(target, join(out, 'gateway.js'));
placeFile(types, join(out, 'gateway.d.ts'));
