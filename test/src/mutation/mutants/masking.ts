import type { Area } from '../mutant.js';

const LOG = 'base/src/log.ts';
const SECRET = 'base/src/secret.ts';
const RESPOND = 'dataplane/src/response/plan-response.ts';
const PATH = 'dataplane/src/call/redact-path.ts';

/** Places that write a log line, a row or an answer with a credential in play, beside those of upstream and websocket. */
export const MASKING: Area = {
  name: 'masking',
  tests: ['base/src/log.test.ts'],
  built: false,
  mutants: [
    {
      file: LOG,
      find: '{ write: (line: string) => write(maskSecrets(line)) },',
      put: '{ write: (line: string) => write(line) },',
      bug: 'log lines are written without masking',
    },
    {
      file: LOG,
      find: '[name, `*.${name}`, `*.*.${name}`]',
      put: '[name, `*.${name}`]',
      bug: 'a secret two levels deep is written',
    },
    {
      file: LOG,
      find: '/acgm?_[0-9a-f]{8,}|whsec_',
      put: '/whsec_',
      bug: 'gateway tokens are not recognized in texts',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: "const changes = { secret: ['[secret]', '[secret]'], previousSecretUntil",
      put: "const changes = { secret: ['[secret]', secret.reveal()], previousSecretUntil",
      bug: 'the audit trail holds a new signing secret',
      tests: ['test/src/secret-leaks/leaks-by-route.test.ts'],
    },
    {
      file: LOG,
      find: '|(postgres(?:ql)?|rediss?|smtps?):\\/\\/[^\\s"\\\\@/]*:[^\\s"\\\\@/]*@',
      put: '|(postgres(?:ql)?|smtps?):\\/\\/[^\\s"\\\\@/]*:[^\\s"\\\\@/]*@',
      bug: "the counter store's password is written",
    },
    {
      file: RESPOND,
      find: `    mask: createBodyMask(upstream),
`,
      put: '    mask: null,\n',
      bug: 'bodies show the credential',
      tests: ['dataplane/src/call/proxy-responses.test.ts'],
    },
    {
      file: PATH,
      find: `const plain = text.includes('acg_') ? text.replace(GATEWAY_TOKEN_PATTERN, REDACTED_TOKEN) : text;`,
      put: 'const plain = text;',
      bug: 'a gateway token in a path is in the log of calls',
      tests: ['dataplane/src/call/redact-path.test.ts'],
    },
    {
      file: PATH,
      find: `return decoded.includes('acg_') && decoded.search(GATEWAY_TOKEN_PATTERN) !== -1`,
      put: `return decoded.includes('acg_') && decoded.search(GATEWAY_TOKEN_PATTERN) === 0`,
      bug: 'a gateway token in a path, written with escapes, is in the log of calls',
      tests: ['dataplane/src/call/redact-path.test.ts'],
    },
    {
      file: 'dataplane/src/call/settle.ts',
      find: `model: redactGatewayTokens(
      exchange.metering.deferredUsage?.model ?? reading?.model ?? exchange.metering.requestModel ?? '',
    ),`,
      put: `model: exchange.metering.deferredUsage?.model ?? reading?.model ?? exchange.metering.requestModel ?? '',`,
      bug: 'a gateway token sent as a model name is in the log of calls',
      tests: ['dataplane/src/call/call-endings.test.ts'],
    },
    {
      file: SECRET,
      find: '  toString(): string {\n    return REDACTED;',
      put: '  toString(): string {\n    return String(this.#value);',
      bug: 'a secret in a template is logged in plain text',
      tests: ['base/src/secret.test.ts'],
    },
    {
      file: SECRET,
      find: '  toJSON(): string {\n    return REDACTED;',
      put: '  toJSON(): string {\n    return String(this.#value);',
      bug: 'a secret in a logged object is logged in plain text',
      tests: ['base/src/secret.test.ts'],
    },
    {
      file: SECRET,
      find: '  [inspect.custom](): string {\n    return REDACTED;',
      put: '  [inspect.custom](): string {\n    return String(this.#value);',
      bug: 'an inspected secret is shown in plain text',
      tests: ['base/src/secret.test.ts'],
    },
    {
      file: 'dataplane/src/call/failure-handler.ts',
      find: "this.#deps.log.debug({ err: error, requestId: exchange.request.id }, 'the upstream call failed');",
      put: "this.#deps.log.debug({ err: error, to: exchange.routed.upstream.injection }, 'the upstream call failed');",
      bug: 'a failed call writes the credential into the log',
      tests: ['dataplane/src/call/call-endings.test.ts'],
    },
    {
      file: 'dataplane/src/call/failure-handler.ts',
      find: `    this.#deps.settle(exchange, () => exchange.respondWithFailure(answer));`,
      put: `    this.#deps.settle(exchange, () => exchange.respondWithFailure(answer));
    exchange.settled = false;`,
      bug: 'a failed call is recorded again by later records',
      tests: ['dataplane/src/call/call-endings.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/service.ts',
      find: `    const decrypt = (account: AccountRow) => decryptCredentials(this.vault, this.log, key.orgId, account);`,
      put: `    const decrypt = (account: AccountRow) => {
      const opened = decryptCredentials(this.vault, this.log, key.orgId, account);
      this.log.debug({ opened: JSON.stringify(opened) }, 'opened');
      return opened;
    };`,
      bug: 'the credentials sent to data planes are in the log',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/delivery-sender.ts',
      find: `      return new Secret(this.#options.vault.decrypt(identity, sealed));`,
      put: `      const opened = this.#options.vault.decrypt(identity, sealed);
      this.#options.log.debug({ key: opened.slice('whsec_'.length) }, 'signing');
      return new Secret(opened);`,
      bug: 'the signing key of a delivery is in the log without its prefix',
      tests: ['test/src/webhooks/endpoints.test.ts'],
    },
    {
      file: 'controlplane/src/mail/mailer.ts',
      find: '    this.#ready.push({ mail, tries: 0 });',
      put: "    this.#ready.push({ mail, tries: 0 });\n    this.log.debug({ mail }, 'mail queued');",
      bug: 'e-mails are in the log, with their links',
      tests: ['test/src/auth/email-link-pages.test.ts'],
    },
    {
      file: 'controlplane/src/http/app.ts',
      find: `request.log.debug({ ...fields, durationMs`,
      put: `request.log.debug({ ...fields, asked: JSON.stringify(request.body), durationMs`,
      bug: 'bodies are in the log of requests',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
  ],
};
