import { byId } from '../fields.ts'
import { AccountForm, EndedSessions, OwnSessionList, PasswordForm } from '../people/account.ts'
import {
  Accepted,
  AcceptForm,
  InvitedPerson,
  InviteToken,
  OpenInvite,
  Person,
  PersonForm,
  PersonList,
} from '../people/people.ts'
import { Account } from '../sign-in/auth.ts'
import { deleted, type Endpoint, everybody, managePeople, nothing } from './endpoint.ts'

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
  /** Ends all other sessions. */
  changePassword: {
    method: 'POST',
    path: '/api/account/password',
    noun: 'Account',
    ...everybody,
    body: PasswordForm,
    answer: EndedSessions,
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
  /** Makes the account and its link, which works once for two days. */
  invitePerson: {
    method: 'POST',
    path: '/api/people',
    noun: 'Person',
    ...managePeople,
    body: PersonForm,
    answer: InvitedPerson,
    status: 201,
  },
  updatePerson: {
    method: 'PATCH',
    path: '/api/people/:id',
    noun: 'Person',
    ...managePeople,
    params: byId,
    body: PersonForm,
    answer: Person,
  },
  /** A new link instead of any before. When it is used, the old password and all sessions end. */
  renewInvite: {
    method: 'POST',
    path: '/api/people/:id/invite',
    noun: 'Person',
    ...managePeople,
    params: byId,
    body: nothing,
    answer: InvitedPerson,
    status: 201,
  },
  /** Ends the sessions at once. */
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
    ...managePeople,
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
  deletePerson: {
    method: 'DELETE',
    path: '/api/people/:id',
    noun: 'Person',
    ...managePeople,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
