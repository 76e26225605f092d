import type { Area } from '../mutant.js';

const REQUEST_HEADERS = 'dataplane/src/upstream/request-headers.ts';
const RESPONSE_HEADERS = 'dataplane/src/upstream/response-headers.ts';
const INJECT = 'dataplane/src/upstream/credentials/inject-credential.ts';
const TARGET = 'dataplane/src/upstream/proxy-target.ts';
const REWRITE = 'dataplane/src/upstream/url-rewrite.ts';
const TOKEN = 'dataplane/src/upstream/credentials/gateway-token-position.ts';
const FORM_SEARCH = 'dataplane/src/upstream/masking/credential-search.ts';
const MASK = 'dataplane/src/upstream/masking/credential-mask.ts';
const POOLS = 'dataplane/src/upstream/connections/connection-pools.ts';

export const UPSTREAM: Area = {
  name: 'upstream',
  tests: [
    'dataplane/src/upstream',
    'dataplane/src/call/proxy-requests.test.ts',
    'dataplane/src/call/proxy-responses.test.ts',
  ],
  built: false,
  mutants: [
    {
      file: REQUEST_HEADERS,
      find: "  'cookie',\n",
      put: '',
      bug: 'cookies are forwarded upstream',
    },
    {
      file: REQUEST_HEADERS,
      find: "  'x-goog-api-key',\n",
      put: '',
      bug: "the client's own x-goog-api-key is forwarded upstream",
    },
    {
      file: REQUEST_HEADERS,
      find: `name === ownHeader || injection.dropHeaders.has(name) || isGatewayHeader(name)`,
      put: `injection.dropHeaders.has(name) || isGatewayHeader(name)`,
      bug: 'the header that the account sets is sent twice',
    },
    {
      file: REQUEST_HEADERS,
      find: `name === ownHeader || injection.dropHeaders.has(name) || isGatewayHeader(name)`,
      put: `name === ownHeader || isGatewayHeader(name)`,
      bug: 'headers that the injection drops (organization, security token) are forwarded upstream',
    },
    {
      file: REQUEST_HEADERS,
      find: 'if (listed?.includes(name)) continue;',
      put: '',
      bug: 'headers that Connection lists are forwarded upstream',
    },
    {
      file: REQUEST_HEADERS,
      find: 'if (value.length >= gatewayToken.length && value.includes(gatewayToken)) continue;',
      put: '',
      bug: 'a gateway token in any other header is forwarded upstream',
    },
    {
      file: REQUEST_HEADERS,
      find: 'value.length >= gatewayToken.length && value.includes',
      put: 'value.length > gatewayToken.length && value.includes',
      bug: 'a header that is the gateway token alone is forwarded upstream',
    },
    {
      file: REQUEST_HEADERS,
      find: "(name.startsWith('x-gateway-') || name.startsWith('x-forwarded-'))",
      put: "name.startsWith('x-gateway-')",
      bug: 'x-forwarded-* tell the provider about our network',
    },
    {
      file: REQUEST_HEADERS,
      find: `NON_ASCII.test(value) ? toWireLatin1(value) : value`,
      put: 'value',
      bug: 'bytes of a header value change on the way',
    },
    {
      file: REQUEST_HEADERS,
      find: "if (!objects) out.push('accept-encoding', 'identity');",
      put: '',
      bug: 'responses may come compressed, unreadable for metering and masking',
    },
    { file: RESPONSE_HEADERS, find: "  'set-cookie',\n", put: '', bug: "a provider's cookie reaches the agent" },
    {
      file: RESPONSE_HEADERS,
      find: "lower.startsWith('x-gateway-') || ",
      put: '',
      bug: "a provider can set the gateway's own headers",
    },
    {
      file: RESPONSE_HEADERS,
      find: 'if (!ascii && !SAFE_VALUE.test(value)) continue;',
      put: '',
      bug: 'a value with a control byte splits the response',
    },
    {
      file: RESPONSE_HEADERS,
      find: `if (listed?.has(name) || headerNameContainsCredential(name, maskPatterns)) continue;`,
      put: `if (headerNameContainsCredential(name, maskPatterns)) continue;`,
      bug: "the provider's hop-by-hop headers come back",
    },
    {
      file: RESPONSE_HEADERS,
      find: `const masked = maskHeaderValue(value, maskPatterns);`,
      put: `const masked = maskHeaderValue(value, { ...maskPatterns, patterns: maskPatterns.patterns.slice(0, 1) });`,
      bug: 'only the first form of a credential is masked in headers',
    },
    {
      file: RESPONSE_HEADERS,
      find: 'return CONTENT_LENGTH.test(value) ? Number(value) : otherwise;',
      put: 'return Number(value);',
      bug: 'a Content-Length that is no number is believed',
    },
    {
      file: INJECT,
      find: `      headers.push('authorization', injection.value);
      return removeAuthParams(query, position, AUTH_QUERY_PARAM);`,
      put: "      headers.push('authorization', injection.value);\n      return query;",
      bug: 'an apikey in the query is forwarded upstream beside basic credentials',
    },
    {
      file: INJECT,
      find: 'for (let i = 0; i < extra.length; i++)',
      put: 'for (let i = 1; i < extra.length; i++)',
      bug: "the account's first extra header is left out",
    },
    {
      file: INJECT,
      find: 'if (alternative === undefined) headers.push(injection.name, injection.value);\n  else headers',
      put: 'headers.push(injection.name, injection.value);\n  if (alternative !== undefined) headers',
      bug: 'the credential is sent in two forms at once',
    },
    {
      file: INJECT,
      find: 'position.userJwt ?? injection.bearerUnlessUserJwt',
      put: 'injection.bearerUnlessUserJwt',
      bug: "a signed-in user's token is replaced by the service key",
    },
    {
      file: INJECT,
      find: 'if (placed) return false;',
      put: 'if (placed) return true;',
      bug: "a second apikey of the client's is forwarded upstream",
    },
    {
      file: INJECT,
      find: '(name) => !extra.some(([taken]) => taken === name)',
      put: '() => true',
      bug: "the client's teamId stays beside the account's",
    },
    {
      file: INJECT,
      find: `      !isPresignedSignatureParam(name) &&
`,
      put: '',
      bug: "a presigned URL's old signature is forwarded upstream",
    },
    {
      file: INJECT,
      find: "    query.includes('%') ||\n",
      put: '',
      bug: 'an escaped auth parameter is not found',
    },
    {
      file: INJECT,
      find: `name.includes(gatewayToken) || decodeParamValue(pair).includes(gatewayToken)`,
      put: `decodeParamValue(pair).includes(gatewayToken)`,
      bug: "a gateway token as a parameter's name is forwarded upstream",
    },
    {
      file: INJECT,
      find: "    case 'x-amz-security-token':\n",
      put: '',
      bug: "an agent's own x-amz-security-token is forwarded",
    },
    {
      file: TARGET,
      find: `const isAllowedTargetByte = (c: number): boolean => c > 0x20 && c < 0x7f && c !== HASH && c !== BACKSLASH;`,
      put: `const isAllowedTargetByte = (c: number): boolean => c > 0x20 && c < 0x7f && c !== HASH;`,
      bug: 'a backslash in the target is accepted',
    },
    {
      file: TARGET,
      find: `const isAllowedTargetByte = (c: number): boolean => c > 0x20 && c < 0x7f && c !== HASH && c !== BACKSLASH;`,
      put: `const isAllowedTargetByte = (c: number): boolean => c > 0x20 && c <= 0x7f && c !== HASH && c !== BACKSLASH;`,
      bug: 'DEL in the target is accepted',
    },
    {
      file: TARGET,
      find: `return allowsObjectKeys && (shape === 'keyed' || basePath === '');`,
      put: `return allowsObjectKeys;`,
      bug: "object keys climb out of the endpoint's base path",
    },
    { file: TARGET, find: '/%(?:25)?(2e|2f|5c', put: '/%(2e|2f|5c', bug: 'doubly encoded dots are not seen' },
    {
      file: TARGET,
      find: 'const stop = semicolon !== -1 && semicolon < end ? semicolon : end;',
      put: 'const stop = end;',
      bug: '`..;x` is no dot segment',
    },
    {
      file: TARGET,
      find: `if (!hasOnlyTargetBytes(raw, pathEnd + 1)) return`,
      put: 'if (false) return',
      bug: 'control bytes in the query are accepted',
    },
    {
      file: TARGET,
      find: 'return length === 0 || length > SLUG_LENGTH_MAX ? -1 : at;',
      put: 'return length === 0 ? -1 : at;',
      bug: 'a slug of any length is looked up',
    },
    {
      file: REWRITE,
      find: "return rest[0] === '?' || rest[0] === '#' ? `/${rest}` : null;",
      put: 'return `/${rest}`;',
      bug: '`https://host.evil` counts as the origin',
    },
    {
      file: REWRITE,
      find: "if (!value.startsWith('/') || value.startsWith('//')) {",
      put: "if (!value.startsWith('/')) {",
      bug: '`//other.host` counts as a path of the provider',
    },
    {
      file: REWRITE,
      find: 'this.#held = Buffer.from(tail.subarray(tail.length - held));',
      put: 'this.#held = Buffer.alloc(0);',
      bug: 'bytes that may begin an address are lost at a chunk border',
    },
    {
      file: TOKEN,
      find: "if (gatewayToken !== '' && gatewayToken !== found) return CONFLICTING_TOKENS;\n    if",
      put: 'if',
      bug: 'of two different gateway tokens the first one counts',
    },
    {
      file: TOKEN,
      find: `return matchGatewayToken(colon === pair.length - 1 ? pair.slice(0, colon) : pair.slice(colon + 1));`,
      put: `return matchGatewayToken(pair.slice(colon + 1));`,
      bug: '`curl -u token:` is not understood',
    },
    {
      file: TOKEN,
      find: "const isCredentialParam = (name: string): boolean => name.toLowerCase() === 'x-amz-credential';",
      put: "const isCredentialParam = (name: string): boolean => name === 'x-amz-credential';",
      bug: 'presigned URLs are not understood',
    },
    {
      file: MASK,
      find: `if (!isLast && heldLength === chunk.length && heldBefore.length > 0) return this.#appendToHeld(chunk);`,
      put: '',
      bug: 'a secret in chunks of a few bytes is not masked',
    },
    {
      file: MASK,
      find: `for (let r = 0; r < foundRanges.count; r++) {`,
      put: `for (let r = 0; r < Math.min(1, foundRanges.count); r++) {`,
      bug: 'only the first occurrence in a header is masked',
    },
    {
      file: MASK,
      find: 'if (start < 0) held.fill(ASTERISK, Math.max(0, held.length + start));',
      put: '',
      bug: 'the beginning of a secret that crosses a border leaves unmasked',
    },
    {
      file: FORM_SEARCH,
      find: `const last = this.#lastIndex + (2 & isApart);`,
      put: 'const last = 2;',
      bug: 'of several occurrences only the last one is masked',
    },
    {
      file: FORM_SEARCH,
      find: 'if (matched === rest) matched = top;',
      put: '',
      bug: 'an occurrence after a repeated prefix of itself is not masked',
    },
    {
      file: FORM_SEARCH,
      find: 'if (matched === length) matched = failures[length]!;',
      put: 'if (matched === length) matched = 0;',
      bug: 'an occurrence that overlaps one at the end of a chunk is not masked',
    },
    {
      file: MASK,
      find: 'const stop = Math.max(0, bytes.length - lengthMax);',
      put: 'const stop = Math.max(0, bytes.length - lengthMax + 1);',
      bug: 'one byte too few waits',
    },
    {
      file: POOLS,
      find: 'const key = tenant === null ? `${owner} ${origin}` : `tenants ${owner} ${origin}`;',
      put: 'const key = `${owner} ${origin}`;',
      bug: 'guarded and direct connections to one origin share a pool',
    },
    {
      file: POOLS,
      find: `if (!connection.isUsable) return;`,
      put: '',
      bug: 'a connection that the upstream closes is used again',
    },
    {
      file: POOLS,
      find: `else if (this.#idle.size > this.#idleMax) this.#closeLongestIdleConnection();`,
      put: '',
      bug: 'idle connections are not bounded',
    },
    {
      file: POOLS,
      find: `if (pool.idle.length > Math.ceil(this.#idleMax * IDLE_PER_POOL_RATIO)) pool.idle[0]!.close();`,
      put: 'if (false) {}',
      bug: 'the idle connections of one organization evict all others',
    },
    {
      file: 'dataplane/src/http1/http1-connection.ts',
      find: `if (!this.isRequestSent) this.#closesAfterCall = true;`,
      put: '',
      bug: 'a call accepts a response that began before the request was sent',
    },
    {
      file: POOLS,
      find: `if (code === 'LOOKUPS_BUSY') return 'lookups_busy'; // A limit of this gateway; it says nothing about the address.`,
      put: '',
      bug: "a tenant's own flood of names opens a breaker",
    },
    {
      file: POOLS,
      find: `return wasSent ? 'reset' : 'connect';`,
      put: "return 'connect';",
      bug: 'a provider that closes connections counts as unreachable',
    },
  ],
};
