/**
 * SQL of what people see of the URL of a webhook endpoint, a row of `webhook_endpoints`: the path of a chat's incoming
 * webhook is its secret. The same as `displayUrl` of webhooks/format-delivery-body.ts.
 */
export const SHOWN_ENDPOINT_URL = `case kind when 'webhook' then url else substring(url from '^[^/]+//[^/?]+') || '/…' end`;
