import { expect, test } from 'vitest';
import { isGatewayAddress } from './custom-provider-service.js';

const OWN = ['https://gateway.example', 'http://10.0.0.1:8081'];

test.each([
  ['https://gateway.example', true],
  ['https://GATEWAY.example/v1/proxy/loop', true],
  ['https://gateway.example./v1', true],
  ['http://gateway.example', true],
  ['http://10.0.0.1:8081/v1', true],
  ['http://167772161:8081', true],
  ['http://10.0.0.1:8082', false],
  ['https://api.gateway.example', false],
  ['no url', false],
])('custom providers: %s is an address of the gateway: %s', (url, own) => {
  expect(isGatewayAddress(url, OWN)).toBe(own);
});
