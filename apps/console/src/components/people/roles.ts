import type { Role } from '@postern/contract/sign-in/auth'

/** What each role is called, and what somebody in it may do. */
export const ROLES: Readonly<Record<Role, { text: string; may: string }>> = {
  admin: { text: 'Administrator', may: 'May do everything, also invite people and change the settings.' },
  editor: { text: 'Editor', may: 'Changes nodes, their access tokens, domains and services.' },
  viewer: { text: 'Viewer', may: 'Sees everything but secrets, and changes nothing.' },
}
