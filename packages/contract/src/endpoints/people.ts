import { byId } from '../fields.ts'
import {
  AccountForm,
  ChangedPassword,
  EndedSessions,
  EndedTokens,
  OwnSessionList,
  PasswordForm,
} from '../people/account.ts'
import {
  Accepted,
  AcceptForm,
  Disconnected,
  InvitedPerson,
  InviteForm,
  InviteToken,
  LinkForm,
  OpenInvite,
  Person,
  PersonForm,
  PersonList,
} from '../people/people.ts'
import { Account } from '../sign-in/auth.ts'
import { Confirmation } from '../sign-in/factors.ts'
import { deleted, type Endpoint, everybody, letIn, managePeople, nothing } from './endpoint.ts'

/** The links by which people get in for the first time, or again. */
export const invites = {
  /** What a link is for; it can still be used. */
  readInvite: {
    method: 'POST',
    path: '/api/invites/read',
    noun: 'Invite',
    auth: 'none',
    body: InviteToken,
    answer: OpenInvite,
  },
  /** Sets the password and signs in. The link works once. */
  acceptInvite: {
    method: 'POST',
    path: '/api/invites/accept',
    noun: 'Invite',
    auth: 'none',
    body: AcceptForm,
    answer: Accepted,
  },
} as const satisfies Record<string, Endpoint>

/** One's own account. */
export const account = {
  updateAccount: {
    method: 'PATCH',
    path: '/api/account',
    noun: 'Account',
    ...everybody,
    body: AccountForm,
    answer: Account,
  },
  /** Ends all other sessions, and API tokens and connections with providers unless they are to stay. */
  changePassword: {
    method: 'POST',
    path: '/api/account/password',
    noun: 'Account',
    ...everybody,
    body: PasswordForm,
    answer: ChangedPassword,
  },
  /** The password once more, for what decides who may come in. It counts for ten minutes, in this sign-in alone. */
  confirmAccount: {
    method: 'POST',
    path: '/api/account/confirm',
    noun: 'Account',
    ...everybody,
    body: Confirmation,
    answer: nothing,
  },
  listSessions: {
    method: 'GET',
    path: '/api/account/sessions',
    noun: 'Session',
    ...everybody,
    answer: OwnSessionList,
  },
  endSession: {
    method: 'DELETE',
    path: '/api/account/sessions/:id',
    noun: 'Session',
    ...everybody,
    params: byId,
    answer: deleted,
  },
  endOtherSessions: {
    method: 'DELETE',
    path: '/api/account/sessions',
    noun: 'Session',
    ...everybody,
    answer: EndedSessions,
  },
} as const satisfies Record<string, Endpoint>

/** The accounts of the installation, for administrators. */
export const people = {
  listPeople: { method: 'GET', path: '/api/people', noun: 'Person', ...managePeople, answer: PersonList },
  getPerson: {
    method: 'GET',
    path: '/api/people/:id',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: Person,
  },
  /** Makes the account and its link, which works once for two days, and sends it by e-mail where that is wanted. */
  invitePerson: {
    method: 'POST',
    path: '/api/people',
    noun: 'Person',
    ...letIn,
    body: InviteForm,
    answer: InvitedPerson,
    status: 201,
  },
  updatePerson: {
    method: 'PATCH',
    path: '/api/people/:id',
    noun: 'Person',
    ...letIn,
    params: byId,
    body: PersonForm,
    answer: Person,
  },
  /**
   * A new link instead of any before. When it is used, the old password, all sessions, API tokens and connections with
   * providers end.
   */
  renewInvite: {
    method: 'POST',
    path: '/api/people/:id/invite',
    noun: 'Person',
    ...letIn,
    params: byId,
    body: LinkForm,
    answer: InvitedPerson,
    status: 201,
  },
  /** Ends the sessions and API tokens at once. */
  disablePerson: {
    method: 'PATCH',
    path: '/api/people/:id/disable',
    noun: 'Person',
    ...managePeople,
    params: byId,
    body: nothing,
    answer: Person,
  },
  enablePerson: {
    method: 'PATCH',
    path: '/api/people/:id/enable',
    noun: 'Person',
    ...letIn,
    params: byId,
    body: nothing,
    answer: Person,
  },
  endPersonSessions: {
    method: 'DELETE',
    path: '/api/people/:id/sessions',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: EndedSessions,
  },
  /** They stay in the person's list, as revoked. */
  endPersonTokens: {
    method: 'DELETE',
    path: '/api/people/:id/tokens',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: EndedTokens,
  },
  /**
   * For one whose account somebody else may have connected; sessions end, and API tokens where no way in is left. Not
   * for oneself.
   */
  disconnectPerson: {
    method: 'DELETE',
    path: '/api/people/:id/identities',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: Disconnected,
  },
  deletePerson: {
    method: 'DELETE',
    path: '/api/people/:id',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
