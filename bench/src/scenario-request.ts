/** The call of the scenarios: a POST of 150 B, with a response of 400 B JSON. */
export const REQUEST_BODY = JSON.stringify({
  model: 'gpt-5-mini',
  messages: [{ role: 'user', content: 'Say hello to the person who reads this benchmark, please, politely.' }],
}).padEnd(150, ' ');

/** Path at the provider, and at a transparent proxy. */
export const PROVIDER_PATH = '/v1/chat/completions';
/** Path at the gateway. */
export const PROXY_PATH = `/v1/proxy/openai${PROVIDER_PATH}`;
