import type { Area } from '../mutant.js';

export const LINK: Area = {
  name: 'link',
  tests: ['test/src/link/authorization.test.ts', 'test/src/link/mutual-tls.test.ts'],
  built: true,
  mutants: [
    {
      file: 'controlplane/src/grpc/server.ts',
      find: 'if (linkAuthorized(security, call.metadata)) return handler(call, done);',
      put: 'if (linkAuthorized(security, call.metadata) || true) return handler(call, done);',
      bug: 'unary calls are open to everybody',
    },
    {
      file: 'controlplane/src/grpc/server.ts',
      find: 'if (linkAuthorized(security, call.metadata)) return handler(call);',
      put: 'if (linkAuthorized(security, call.metadata) || true) return handler(call);',
      bug: 'the watch is open to everybody',
    },
  ],
};
