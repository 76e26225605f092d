/** `acg usage export`: streams every call into a file or to stdout. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type Command, Option } from 'commander';
import { createApiClient } from '../../invocation/api-client-with-timeout-and-retry.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { buildUsageScopeQuery, type UsageScopeOptions } from '../../options/usage-scope-options.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { escapeControlCharactersInLines } from '../../terminal/escape-control-characters.js';

/** Time limit in ms; a large export takes long. */
const TIMEOUT_MS = 3_600_000;

interface ExportOptions {
  readonly format?: 'json' | 'csv';
  readonly output?: string;
}

export function registerUsageExportCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('export')
    .description('export every call, e.g. usage export --agent A --period 7d')
    .addOption(new Option('--format <format>', 'csv for a file of that name, else json').choices(['json', 'csv']))
    .option('-o, --output <file>', 'into a file; - or nothing for stdout')
    .action(async ({ format, output }: ExportOptions) => {
      const run = begin();
      await run.getClient(); // checks login and organization
      const kind = format ?? (output?.endsWith('.csv') === true ? 'csv' : 'json');
      const options = group.opts<UsageScopeOptions & { readonly key?: string }>();
      const { key } = options;
      const scope = await buildUsageScopeQuery(run, options);
      const query = new URLSearchParams({
        ...scope,
        ...(key === undefined ? {} : { keyId: key }),
        format: kind,
      }).toString();
      const client = createApiClient({ url: run.settings.url, token: run.token, timeoutMs: TIMEOUT_MS });
      const response = await client.send('GET', `/v1/usage/export?${query}`);
      if (response.body === null) throw new CliError(EXIT_CODES.failed, 'the export is empty');
      const rows = Readable.fromWeb(response.body as ReadableStream);
      if (output === undefined || output === '-') {
        const { stdout } = run.terminal;
        if (!stdout.isTTY) await pipeline(rows, stdout, { end: false });
        else
          for await (const text of rows.setEncoding('utf8')) stdout.write(escapeControlCharactersInLines(String(text)));
        return;
      }
      await pipeline(rows, createWriteStream(output, { mode: 0o600 }));
      run.printNote(`saved in ${output}`);
    });
}
