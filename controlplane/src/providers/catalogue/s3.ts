import { type BuiltInProvider, secret, text } from './built-in-provider.js';

/** Sub-resources of buckets and objects that control who may read them and where notifications go. */
const ACCESS_SETTINGS = [
  'policy',
  'acl',
  'publicaccessblock',
  'ownershipcontrols',
  'replication',
  'website',
  'notification',
  'logging',
  'object-lock',
  // docs.aws.amazon.com/AmazonS3/latest/API: PutBucketInventoryConfiguration, PutBucketAnalyticsConfiguration, PutBucketAbac
  'inventory',
  'analytics',
  'abac',
];

/** Any S3-compatible service: Amazon S3, Cloudflare R2, MinIO. */
export const s3: BuiltInProvider = {
  slug: 's3',
  displayName: 'S3-compatible storage',
  baseUrl: null,
  authType: 'sigv4',
  authName: null,
  credentialFields: [
    text('accessKeyId', { label: 'Access key ID', placeholder: 'AKIA…' }, true),
    secret('secretAccessKey', { label: 'Secret access key' }),
    text('region', { label: 'Region', placeholder: 'us-east-1', hint: 'auto for Cloudflare R2.' }, true, 'region'),
    text('endpoint', { label: 'Endpoint', placeholder: 'https://…', hint: 'Empty for Amazon S3.' }, false, 'url'),
    secret('sessionToken', { label: 'Session token', hint: 'For temporary credentials only.' }, false),
  ],
  address: ({ endpoint, region }) =>
    endpoint === undefined
      ? { baseUrl: `https://s3.${region!}.amazonaws.com${region!.startsWith('cn-') ? '.cn' : ''}`, tenantGiven: false }
      : { baseUrl: endpoint, tenantGiven: true },
  inject: ({ accessKeyId, secretAccessKey, sessionToken, region }) => ({
    sigv4: {
      accessKeyId: accessKeyId!,
      secretAccessKey: secretAccessKey!,
      sessionToken: sessionToken ?? '',
      region: region!,
      service: 's3',
    },
    dropHeaders: ['x-amz-security-token'],
  }),
  usageFormat: 's3',
  priceProvider: '',
  failureStatuses: [500, 502, 503, 504],
  // Throttling of a single customer also returns 503.
  failureExemptMarker: 'SlowDown',
  probe: {
    path: '/',
    refused: (status, body) => status === 403 && /InvalidAccessKeyId|SignatureDoesNotMatch/.test(body),
  },
  sensitiveCalls: [
    { call: 'GET /**', query: ['session'], why: 'CreateSession: returns separate credentials' },
    // IAM and STS on the S3 endpoint: docs.ceph.com/en/latest/radosgw/iam, backblaze.com/apidocs/createaccesskey,
    // min.io/docs/minio/linux/developers/security-token-service.html. S3 itself has no POST on the service.
    { call: '* /**', query: ['action'], why: 'IAM and STS: keys, users, policies, sessions' },
    { call: 'POST /', why: 'the same, named in a form body' },
    // github.com/minio/minio, cmd/admin-router.go, cmd/kms-router.go: on the port of S3, signed as S3.
    { call: '* /minio/admin/**', why: 'users of MinIO with their keys, policies, configuration' },
    { call: '* /minio/kms/**', why: 'encryption keys of MinIO' },
    // docs.ceph.com/en/latest/radosgw/adminops
    { call: '* /admin/user', why: 'users of Ceph with their keys' },
    { call: '* /admin/metadata/**', why: 'the same, and who owns a bucket' },
    { call: '* /admin/bucket', why: 'gives a bucket to another user of Ceph' },
    // docs.virtuozzo.com, object storage orchestration API: put-service-ostor-users
    { call: '* /**', query: ['ostor-users', 'ostor-accounts'], why: 'users of Virtuozzo with their keys' },
    // docs.aws.amazon.com/AmazonS3/latest/API: S3 Control, where the endpoint is that of S3 Control
    { call: '* /v20180820/**', why: 'access points, access grants and their credentials' },
    ...['PUT', 'DELETE', 'POST'].map((method) => ({
      call: `${method} /**`,
      query: ACCESS_SETTINGS,
      why: 'opens the data to the world or to another account, or copies it there',
    })),
    ...['PUT', 'DELETE', 'POST', 'PATCH'].map((method) => ({
      call: `${method} /**`,
      headers: ['x-amz-acl', 'x-amz-grant-*'],
      harmlessValues: ['private', 'bucket-owner-full-control'],
      why: 'the same for one object or a new bucket',
    })),
  ],
  modelCalls: [],
  websocket: false,
};
