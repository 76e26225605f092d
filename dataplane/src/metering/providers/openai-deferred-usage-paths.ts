/** Paths in OpenAI's format whose responses bring usage of other calls. Normalized (token-estimates.ts). */

/**
 * Id of a completion of xAI that is requested and fetched by two calls; null: another call. `requestId`: of a response
 * that holds nothing but the id.
 */
export function findDeferredCompletionId(path: string, method: string, requestId: string | null): string | null {
  if (method === 'GET') return /\/chat\/deferred-completion\/([^/]+)$/.exec(path)?.[1] ?? null;
  return requestId !== null && path.endsWith('/chat/completions') ? requestId.toLowerCase() : null;
}

/** Whether the path is a run itself, fetched or streamed; not the list of runs, not its steps. */
export const isRunPath = (path: string): boolean =>
  /\/threads\/(?:[^/]+\/)?runs(?:\/[^/]+(?:\/submit_tool_outputs)?)?$/.test(path) ||
  /\/evals\/[^/]+\/runs\/[^/]+$/.test(path);

/** Extracts `file-…` from `/v1/files/file-…/content`. */
export const extractFileId = (path: string): string => path.split('/').at(-2) ?? '';
