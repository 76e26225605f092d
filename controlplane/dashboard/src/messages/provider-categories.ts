/** Titles of the categories of providers. */

/** In the order of lists. Null: providers of the organization. */
export const PROVIDER_CATEGORIES = [
  { category: null, title: 'Custom' },
  { category: 'model', title: 'Models' },
  { category: 'storage', title: 'Storage' },
  { category: 'database', title: 'Databases' },
  { category: 'hosting', title: 'Hosting' },
  { category: 'email', title: 'E-mail' },
  { category: 'saas', title: 'Applications' },
] as const;
