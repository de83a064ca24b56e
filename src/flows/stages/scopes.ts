/** What goes away together when only a part is taken away. */
export const scopes = ['infrastructure', 'bastion', 'bootstrap'] as const
export type Scope = (typeof scopes)[number]
