import { expect, test } from 'vitest';
import { isPresignedSignatureParam } from './inject-credential.js';

test.each([
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Signature',
  'X-Amz-Security-Token',
  'x-amz-security-token',
  'x-amz-content-sha256',
])('inject: the query parameter %s is the client’s own signature and goes no further', (name) => {
  expect(isPresignedSignatureParam(name)).toBe(true);
});

test.each(['x-amz-acl', 'X-Amz-Meta-Name', 'x-id', 'versionId'])('inject: the query parameter %s is not', (name) => {
  expect(isPresignedSignatureParam(name)).toBe(false);
});
