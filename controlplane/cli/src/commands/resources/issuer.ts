/** `acg issuer`: the gateway as OpenID Connect issuer, which providers trust instead of a stored secret. */
import { Option } from 'commander';
import { findAgentId } from '../../api/find-agent.js';
import type { Invocation } from '../../invocation/invocation.js';
import { choiceField, mapField, requiredField } from '../../options/field.js';
import { usage } from '../../terminal/cli-error.js';
import { formatDay } from '../../terminal/format-numbers-and-times.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

interface Issuer {
  readonly url: string;
  readonly jwksUrl: string;
  readonly isPublic: boolean;
  readonly subject: string | null;
  readonly manualRotation: boolean;
  readonly keys: readonly { readonly id: string; readonly state: string; readonly activeFrom: string | null }[];
}

function printIssuer(run: Invocation, { url, jwksUrl, isPublic, subject, manualRotation, keys }: Issuer): void {
  run.printFields({
    issuer: url,
    keys: jwksUrl,
    ...(subject === null ? {} : { subject }),
    rotation: manualRotation ? 'by hand' : 'automatic',
  });
  run.printTable(
    [
      { title: 'KEY', cell: ({ id }) => id },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'SIGNS FROM', cell: ({ activeFrom }) => (activeFrom === null ? 'activation' : formatDay(activeFrom)) },
    ],
    keys,
  );
  if (!isPublic) run.printNote('providers cannot reach this address: upload the output of acg issuer jwks to them');
}

export const registerIssuerCommands = commandGroup(
  operationCommand({
    name: 'show',
    description: 'show the issuer, and what to enter at providers',
    operation: 'GET /v1/issuer',
    options: [
      new Option('--agent <agent>', 'show its subject'),
      new Option('--provider <slug>', 'show what to enter at this provider'),
    ],
    query: async ({ options }, run) =>
      options.agent === undefined ? {} : { agentId: await findAgentId(run, String(options.agent)) },
    print(run, { issuer }, { options }) {
      printIssuer(run, issuer);
      const slug = options.provider;
      if (slug === undefined) return;
      const setups = issuer.setups.filter(({ providerSlug }) => providerSlug === slug);
      if (setups.length === 0)
        throw usage(
          `${slug} takes no tokens of the gateway. These do: ${issuer.setups.map((one) => one.providerSlug).join(', ')}.`,
        );
      for (const { label, method, steps } of setups) {
        run.printLine(`\n${label} (method=${method})`);
        for (const [i, step] of steps.entries()) run.printLine(`${i + 1}. ${step}`);
      }
    },
  }),
  operationCommand({
    name: 'jwks',
    description: 'print the public keys as a JWK set, for upload to a provider',
    operation: 'GET /v1/issuer',
    print: (run, { issuer }) => run.printLine(JSON.stringify(issuer.jwks, null, 2)),
  }),
  operationCommand({
    name: 'set',
    description: 'set manual or automatic activation of signing keys',
    operation: 'PATCH /v1/issuer',
    fields: {
      manualRotation: requiredField(
        mapField(
          choiceField('--manual-rotation <yes-or-no>', 'require an admin to activate each new signing key', [
            'yes',
            'no',
          ]),
          (choice) => choice === 'yes',
        ),
      ),
    },
    print: (run, { issuer }) => printIssuer(run, issuer),
  }),
  operationCommand({
    name: 'new-key',
    description: 'publish the next key',
    operation: 'POST /v1/issuer/keys',
    print: (run, { issuer }) => printIssuer(run, issuer),
  }),
  operationCommand({
    name: 'activate',
    description: 'activate the pending signing key, after its upload to all providers',
    operation: 'POST /v1/issuer/keys/{id}/activate',
    target: { argument: ['<key>', 'id of the pending key'], find: async (_run, id) => ({ id }) },
    confirm: ({ text, at }) => `Sign with the key ${text} ${at}? Providers without it reject the gateway.`,
    print: (run, { issuer }) => printIssuer(run, issuer),
  }),
);
