// A webhook receiver in plain Node, without dependencies:
//   WEBHOOK_SECRET=whsec_… PORT=9000 node examples/webhook-receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET; // the whole string, whsec_ included
const seen = new Set(); // in production: a unique key in your database

/** The signature is over the raw bytes: check it before anything is parsed. */
function isGenuine(rawBody, signature) {
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  const given = Buffer.from(signature ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const rawBody = Buffer.concat(chunks);
    if (!isGenuine(rawBody, request.headers['x-webhook-signature'])) {
      response.writeHead(401).end();
      return;
    }
    // Respond at once and process later: a response that takes 10 s counts as failed and is retried.
    response.writeHead(204).end();
    const deliveryId = request.headers['x-webhook-delivery'];
    if (seen.has(deliveryId)) return; // the same delivery can arrive more than once
    seen.add(deliveryId);
    const { event, timestamp, data } = JSON.parse(rawBody.toString('utf8'));
    console.log(timestamp, event, data);
  });
});
server.listen(Number(process.env.PORT ?? 9000), () => console.log(`listening on ${server.address().port}`));
