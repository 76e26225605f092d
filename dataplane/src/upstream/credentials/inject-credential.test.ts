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
])('the query parameter %s is part of the client’s own presigned signature', (name) => {
  expect(isPresignedSignatureParam(name)).toBe(true);
});

test.each(['x-amz-acl', 'X-Amz-Meta-Name', 'x-id', 'versionId'])(
  'the query parameter %s is not part of a presigned signature',
  (name) => {
    expect(isPresignedSignatureParam(name)).toBe(false);
  },
);
