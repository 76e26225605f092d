/** `npm run stand-in [port]`: the OpenAI stand-in of the quickstart. It stores nothing and accepts one key only. */

import { OpenAiStandIn } from './openai.js';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';

const port = Number(process.argv[2] ?? 9001);
const provider = new OpenAiStandIn();
try {
  await provider.start(port);
} catch (error) {
  console.error(`stand-in: ${(error as Error).message}: choose another port (npm run stand-in -- PORT)`);
  process.exit(69);
}
console.log(`OpenAI stand-in on ${provider.origin}; the only key it takes: ${PROVIDER_CREDENTIALS.openai}`);
