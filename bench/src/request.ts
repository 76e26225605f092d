/** The call that the scenarios send: POST of 150 B, answered by 400 B of JSON. */
export const REQUEST_BODY = JSON.stringify({
  model: 'gpt-5-mini',
  messages: [{ role: 'user', content: 'Say hello to the person who reads this benchmark, please, politely.' }],
}).padEnd(150, ' ');

/** At the provider, and at a proxy that changes nothing. */
export const PROVIDER_PATH = '/v1/chat/completions';
/** At the gateway. */
export const PROXY_PATH = `/v1/proxy/openai${PROVIDER_PATH}`;
