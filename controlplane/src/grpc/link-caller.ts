/** The authenticated sender of a call on the plane link, kept beside the call between the server and its handlers. */

/** Name of a data plane's own identity; '' for a caller with the shared INTERNAL_TOKEN. */
export type LinkCaller = string;

/** Either the caller, or why the call is rejected. */
export type LinkAuthentication = { readonly caller: LinkCaller } | { readonly problem: string };

const callers = new WeakMap<object, LinkCaller>();

export function setLinkCaller(call: object, caller: LinkCaller): void {
  callers.set(call, caller);
}

export function linkCallerOf(call: object): LinkCaller {
  const caller = callers.get(call);
  if (caller === undefined) throw new Error('the call was not authenticated');
  return caller;
}
