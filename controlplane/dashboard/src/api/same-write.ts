/**
 * A write that is asked for twice before its first answer is here, by a double click or a key that is held down, is sent
 * once; both get that answer. A button that shows that it works comes a moment too late for the second of two clicks, and
 * a second token would be one that nobody has seen and everybody could have used.
 */
type Fetch = (request: Request) => Promise<Response>;

export function sameWriteOnce(send: Fetch): Fetch {
  const waiting = new Map<string, Promise<Response>>();
  return async (request) => {
    const body = await request.text();
    const asked = `${request.method} ${request.url} ${body}`;
    let answer = waiting.get(asked);
    if (answer === undefined) {
      answer = send(body === '' ? request : new Request(request, { body })).finally(() => waiting.delete(asked));
      waiting.set(asked, answer);
    }
    return (await answer).clone();
  };
}
