/** The organization in the address: `/o/SLUG/agents`, so that a link opens the organization that it was copied from. */

const ORGANIZATION_PATH = /^\/o\/([^/]+)(\/.*)?$/;

/** Null: the address names no organization, e.g. a link of a mail. */
export const parseOrganizationSlug = (path: string): string | null => ORGANIZATION_PATH.exec(path)?.[1] ?? null;

/** Base of all addresses of an organization, without a trailing slash. */
export const organizationBase = (slug: string): string => `/o/${slug}`;
