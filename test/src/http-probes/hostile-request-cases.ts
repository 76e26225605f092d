/**
 * Malformed and hostile requests by class (request smuggling, framing, targets, headers, preambles). The tests send
 * `WELL_FORMED_REQUEST` after each, in the same segment and in its own. The server must not serve it when the end of
 * the first request is ambiguous.
 */
import { GATEWAY_TOKEN } from './probe-harness.js';

export interface AttackCase {
  readonly name: string;
  readonly chunks: readonly (string | Buffer)[];
  /** How many requests may reach the upstream at most. */
  readonly forwarded: 0 | 1;
  /** Accepted first statuses; `none`: closed or left without a response. Absent: any. */
  readonly status?: readonly (number | 'none')[];
}

const AUTHORIZATION_HEADER = `authorization: Bearer ${GATEWAY_TOKEN}\r\n`;
const HOST_HEADER = 'host: gw\r\n';
export const COMMON_HEADERS = `${HOST_HEADER}${AUTHORIZATION_HEADER}`;
const PATH = '/v1/proxy/probe';
/** A well-formed request that must not be served when it follows a malformed one. */
export const WELL_FORMED_REQUEST = `GET ${PATH}/smuggled HTTP/1.1\r\n${COMMON_HEADERS}\r\n`;

const getRequest = (target: string, headers = COMMON_HEADERS): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const postRequest = (headers: string, body: string): string =>
  `POST ${PATH}/post HTTP/1.1\r\n${COMMON_HEADERS}${headers}\r\n${body}`;
const createCases = (
  group: string,
  forwarded: 0 | 1,
  status: AttackCase['status'] | null,
  entries: Readonly<Record<string, string | Buffer>>,
): AttackCase[] =>
  Object.entries(entries).map(([name, bytes]) => ({
    name: `${group}: ${name}`,
    forwarded,
    chunks: [typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes],
    ...(status === null || status === undefined ? {} : { status }),
  }));

const LENGTHS: Readonly<Record<string, string>> = {
  'two equal': 'content-length: 5\r\ncontent-length: 5\r\n',
  'two different': 'content-length: 5\r\ncontent-length: 0\r\n',
  list: 'content-length: 5, 5\r\n',
  empty: 'content-length:\r\n',
  plus: 'content-length: +5\r\n',
  minus: 'content-length: -5\r\n',
  hex: 'content-length: 0x5\r\n',
  'leading zero': 'content-length: 05\r\n',
  exponent: 'content-length: 1e1\r\n',
  fraction: 'content-length: 5.0\r\n',
  'inner space': 'content-length: 5 5\r\n',
  'beyond 2^53': 'content-length: 9007199254740993\r\n',
  'beyond 2^64': 'content-length: 18446744073709551621\r\n',
};
const CODINGS: Readonly<Record<string, string>> = {
  gzip: 'transfer-encoding: gzip\r\n',
  'chunked, gzip': 'transfer-encoding: chunked, gzip\r\n',
  'gzip, chunked': 'transfer-encoding: gzip, chunked\r\n',
  'chunked twice in one': 'transfer-encoding: chunked, chunked\r\n',
  'two lines': 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n',
  'empty, then chunked': 'transfer-encoding:\r\ntransfer-encoding: chunked\r\n',
  empty: 'transfer-encoding:\r\n',
  identity: 'transfer-encoding: identity\r\n',
  xchunked: 'transfer-encoding: xchunked\r\n',
  parameters: 'transfer-encoding: chunked;q=1\r\n',
  'vertical tab': 'transfer-encoding: \x0bchunked\r\n',
  'with length': 'transfer-encoding: chunked\r\ncontent-length: 5\r\n',
  'length first': 'content-length: 5\r\ntransfer-encoding: chunked\r\n',
};
const mapValues = (entries: Readonly<Record<string, string>>, make: (value: string) => string) =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, make(value)]));

const CHUNKED = 'transfer-encoding: chunked\r\n';
/** Malformed chunk lines. The server's parser accepts some: the request itself may pass, the bytes after it may not. */
const CHUNK_BODIES: Readonly<Record<string, string>> = {
  'size g': 'g\r\nhello\r\n0\r\n\r\n',
  'size 5;': '5;\r\nhello\r\n0\r\n\r\n',
  'size with extension': '5;a=b\r\nhello\r\n0\r\n\r\n',
  'size with space': ' 5\r\nhello\r\n0\r\n\r\n',
  'size with tab': '\t5\r\nhello\r\n0\r\n\r\n',
  'extension without a size': ';a=b\r\nhello\r\n0\r\n\r\n',
  'extension that looks like a size': '5;5\r\nhello\r\n0\r\n\r\n',
  'extension with a line feed': '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'size minus': '-5\r\nhello\r\n0\r\n\r\n',
  'size hex prefix': '0x5\r\nhello\r\n0\r\n\r\n',
  'size overflow': 'fffffffffffffffff5\r\nhello\r\n0\r\n\r\n',
  'empty size': '\r\nhello\r\n0\r\n\r\n',
  'line feed only': '5\nhello\n0\n\n',
  'data longer than size': '3\r\nhello\r\n0\r\n\r\n',
  'no line end after data': '5\r\nhello0\r\n\r\n',
  'long extension': `5;${'x'.repeat(5000)}\r\nhello\r\n0\r\n\r\n`,
  trailers: '5\r\nhello\r\n0\r\nx-trailer: 1\r\n\r\n',
  'trailers that are a request': `0\r\nX: /attacker HTTP/1.1\r\nHost: a\r\nContent-Length: 170\r\n\r\n`,
};

const TARGETS: Readonly<Record<string, string>> = {
  'dot segments': `${PATH}/../alive/x`,
  'encoded dot segments': `${PATH}/%2e%2e/alive/x`,
  'mixed dot segments': `${PATH}/.%2E/x`,
  'dots before an encoded slash': `${PATH}/..%2fx`,
  'twice encoded dots': `${PATH}/%252e%252e/x`,
  'dots with parameters': `${PATH}/..;a=b/x`,
  backslash: `${PATH}/a\\b`,
  'encoded line feed': `${PATH}/a%0d%0ax: y`.replace(' ', '%20'),
  'encoded null': `${PATH}/a%00`,
  fragment: `${PATH}/a#b`,
  'byte above ASCII': `${PATH}/\xe4`,
  'control byte': `${PATH}/a\x01b`,
  delete: `${PATH}/a\x7f`,
  'broken escape': `${PATH}/a%g1`,
  tab: `${PATH}/a\tb`,
  'too long': `${PATH}/${'a'.repeat(9000)}`,
  'absolute form': `http://evil.example${PATH}/x`,
  'authority form': 'evil.example:443',
  asterisk: '*',
  empty: '',
  'relative path': 'v1/proxy/probe/x',
  'double slash first': `/${PATH}/x`,
  'user info': `http://a@b${PATH}/x`,
};

const BAD_HEADERS: Readonly<Record<string, string>> = {
  'folded line': 'x-a: 1\r\n  folded\r\n',
  'space before colon': 'x-a : 1\r\n',
  'no colon': 'x-a\r\n',
  'null byte': 'x-a: a\0b\r\n',
  'bare carriage return': 'x-a: a\rb\r\n',
  'control byte': 'x-a: a\x02b\r\n',
  'bad name byte': 'x(a): 1\r\n',
  'name above ASCII': 'x-\xe4: 1\r\n',
  'not UTF-8': 'x-a: a \xe4 b\r\n',
  'expectation unknown': 'expect: 200-maybe\r\n',
  'two credentials': AUTHORIZATION_HEADER,
  'header flood': 'x-a: 1\r\n'.repeat(200),
  'large header': `x-a: ${'a'.repeat(40_000)}\r\n`,
  'very large header': `x-a: ${'a'.repeat(200_000)}\r\n`,
};

const HOSTS: Readonly<Record<string, string>> = {
  missing: '',
  two: 'host: gw\r\nhost: gw\r\n',
  'two different': 'host: gw\r\nhost: evil\r\n',
  empty: 'host:\r\n',
  'with path': 'host: gw/evil\r\n',
  'with user': 'host: a@gw\r\n',
  list: 'host: gw, evil\r\n',
  'with spaces': 'host: gw evil\r\n',
};

const PROXY_V2 = Buffer.concat([
  Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x21, 0x11, 0x00, 0x0c]),
  Buffer.from([6, 6, 6, 6, 127, 0, 0, 1, 0x10, 0x00, 0x00, 0x50]),
  Buffer.from(WELL_FORMED_REQUEST, 'latin1'),
]);

const LINES: Readonly<Record<string, string>> = {
  'lower-case method': `get ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'unknown method': `HACK ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'method CONNECT': `CONNECT ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'method TRACE': `TRACE ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'empty method': ` ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'method with colon': `GET: ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'no version': `GET ${PATH}/x\r\n${COMMON_HEADERS}\r\n`,
  'version 1.0': `GET ${PATH}/x HTTP/1.0\r\n${COMMON_HEADERS}\r\n`,
  'version 2.0': `GET ${PATH}/x HTTP/2.0\r\n${COMMON_HEADERS}\r\n`,
  'version 1.2': `GET ${PATH}/x HTTP/1.2\r\n${COMMON_HEADERS}\r\n`,
  'version of another protocol': `GET ${PATH}/x RTSP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'two spaces': `GET  ${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'tab for a space': `GET\t${PATH}/x HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  'trailing space': `GET ${PATH}/x HTTP/1.1 \r\n${COMMON_HEADERS}\r\n`,
  'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'null bytes': '\0\0\0\0\0\0\0\0\r\n\r\n',
};

/** Rejected with a response or a closed connection; neither the request nor the bytes after it reach the upstream. */
export const REJECTED_CASES: readonly AttackCase[] = [
  // 505: the rest of the rejected request is not a request line.
  ...createCases(
    'content-length',
    0,
    [400, 505, 'none'],
    mapValues(LENGTHS, (line) => postRequest(line, 'hello')),
  ),
  ...createCases(
    'transfer-encoding',
    0,
    [400, 501, 505, 'none'],
    mapValues(CODINGS, (line) => postRequest(line, '0\r\n\r\n')),
  ),
  ...createCases(
    'target',
    0,
    // 431: the Node 22 and 24 binaries count the target as part of the head and reject it before our 414.
    [400, 404, 414, 431, 505, 'none'],
    mapValues(TARGETS, (target) => getRequest(target)),
  ),
  ...createCases(
    'host',
    0,
    [400, 'none'],
    mapValues(HOSTS, (host) => getRequest(`${PATH}/x`, `${host}${AUTHORIZATION_HEADER}`)),
  ),
  ...createCases('request line', 0, [400, 405, 505, 'none'], LINES),
  ...createCases(
    'header',
    0,
    [400, 413, 417, 431, 'none'],
    mapValues(BAD_HEADERS, (line) => postRequest(`content-length: 5\r\n${line}`, 'hello')),
  ),
  ...createCases('preamble', 0, ['none', 400, 505], {
    'PROXY v2': PROXY_V2,
    'PROXY v1': `PROXY TCP4 6.6.6.6 1.1.1.1 1 2\r\n${WELL_FORMED_REQUEST}`,
  }),
  ...createCases('rejection', 0, [401, 'none'], {
    'no credential': `GET ${PATH}/x HTTP/1.1\r\n${HOST_HEADER}\r\n`,
    'unknown credential': `GET ${PATH}/x HTTP/1.1\r\n${HOST_HEADER}x-api-key: acg_${'0'.repeat(64)}\r\n\r\n`,
  }),
];

/** Accepted by the server's parser: the request itself may pass once, the request hidden in it may not. */
export const CONTAINED_CASES: readonly AttackCase[] = [
  ...createCases(
    'chunk',
    1,
    null,
    mapValues(CHUNK_BODIES, (body) => postRequest(CHUNKED, body)),
  ),
  ...createCases('hidden length', 1, null, {
    'empty name hides a length': `POST ${PATH}/post HTTP/1.1\r\n${COMMON_HEADERS}: x\r\ncontent-length: ${WELL_FORMED_REQUEST.length}\r\n\r\n${WELL_FORMED_REQUEST}`,
    'chunk is a request': postRequest(
      CHUNKED,
      `${WELL_FORMED_REQUEST.length.toString(16)}\r\n${WELL_FORMED_REQUEST}\r\n0\r\n\r\n`,
    ),
  }),
];

/** Unusual but legal: served, and well-formed at the upstream. */
export const SERVED_CASES: readonly AttackCase[] = [
  ...createCases('legal', 1, [200], {
    'upper-case header names': `GET ${PATH}/x HTTP/1.1\r\nHOST: gw\r\nAUTHORIZATION: Bearer ${GATEWAY_TOKEN}\r\n\r\n`,
    'no space after colon': `GET ${PATH}/x HTTP/1.1\r\nhost:gw\r\nauthorization:Bearer ${GATEWAY_TOKEN}\r\n\r\n`,
    'doubled slashes and escapes': getRequest(`${PATH}//a%2Fb//c?d=//e`),
    'expect 100-continue': postRequest('expect: 100-continue\r\ncontent-length: 5\r\n', 'hello'),
    'chunked body': postRequest(CHUNKED, '5\r\nhello\r\n0\r\n\r\n'),
    'empty chunked body': postRequest(CHUNKED, '0\r\n\r\n'),
    'body that is a request': postRequest(`content-length: ${WELL_FORMED_REQUEST.length}\r\n`, WELL_FORMED_REQUEST),
    'length 0': postRequest('content-length: 0\r\n', ''),
    'hop-by-hop headers': getRequest(
      `${PATH}/x`,
      `${COMMON_HEADERS}connection: authorization, x-hop, close\r\nx-hop: 1\r\nte: trailers\r\nkeep-alive: 9\r\nupgrade: h2c\r\n`,
    ),
    'cookies and forwarded': getRequest(
      `${PATH}/x`,
      `${COMMON_HEADERS}cookie: a=b\r\nx-forwarded-for: 6.6.6.6\r\nforwarded: for=6\r\n`,
    ),
    'HTTP/2 settings': getRequest(
      `${PATH}/x`,
      `${COMMON_HEADERS}http2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\nconnection: http2-settings\r\n`,
    ),
  }),
];

/**
 * Decided by the parser of the HTTP server before any handler runs, and different in its binaries: legal but rejected,
 * or malformed but accepted. The gateway cannot change that; the cases must be harmless.
 */
export const PARSER_DEPENDENT_CASES: readonly AttackCase[] = [
  ...createCases('parser', 1, [200, 400, 505, 'none'], {
    'empty line first': `\r\n${getRequest(`${PATH}/x`)}`,
    'underscore in a header name': getRequest(`${PATH}/x`, `${COMMON_HEADERS}x_under: 1\r\n`),
    'other token bytes in a header name': getRequest(`${PATH}/x`, `${COMMON_HEADERS}x!#$%&'*+.^|~: 1\r\n`),
    'HTTP/1.0': `GET ${PATH}/x HTTP/1.0\r\n${COMMON_HEADERS}\r\n`,
    // The parser trims bytes from 0x80 on around a value like spaces before a handler sees it. Server, handler and
    // upstream use the same remaining length.
    'high byte before a length': postRequest('content-length: \xa05\r\n', 'hello'),
    'high byte after a length': postRequest('content-length: 5\xa0\r\n', 'hello'),
  }),
];
