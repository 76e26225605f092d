/**
 * Asks the user for a code of the second factor when the API requires one, then sends the request again. The dialog
 * subscribes to the open question; several requests at once wait for the same answer.
 */
type Send = (request: Request) => Promise<Response>;

interface OpenQuestion {
  readonly answered: Promise<boolean>;
  readonly answer: (confirmed: boolean) => void;
}

const FORBIDDEN = 403;
let question: OpenQuestion | null = null;
const listeners = new Set<() => void>();

function setQuestion(next: OpenQuestion | null): void {
  question = next;
  for (const listener of listeners) listener();
}

export const subscribeToQuestion = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const isQuestionOpen = (): boolean => question !== null;

/** `confirmed` false: the user cancelled, and the request keeps its rejection. */
export function answerQuestion(confirmed: boolean): void {
  const open = question;
  setQuestion(null);
  open?.answer(confirmed);
}

function askForConfirmation(): Promise<boolean> {
  if (question === null) {
    let answer: OpenQuestion['answer'] = () => {};
    const answered = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    setQuestion({ answered, answer });
  }
  return question!.answered;
}

/** Without a subscribed dialog the rejection is returned as it is. */
export async function confirmAndRetry(request: Request, send: Send): Promise<Response> {
  const again = request.clone();
  const response = await send(request);
  if (response.status !== FORBIDDEN || listeners.size === 0) return response;
  const body = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { readonly secondFactor?: unknown };
  return body.secondFactor === true && (await askForConfirmation()) ? send(again) : response;
}
