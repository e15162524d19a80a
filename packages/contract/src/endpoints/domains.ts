import {
  Domain,
  DomainForm,
  DomainList,
  DomainQuery,
  EndingCertificates,
  EndSessionsForm,
  RootCertificate,
  SignInList,
  SignInQuery,
} from '../domains.ts'
import { byId } from '../fields.ts'
import { deleted, type Endpoint, edit, look, nothing } from './endpoint.ts'

/** Domains. */
export const domains = {
  listDomains: {
    method: 'GET',
    path: '/api/domains',
    noun: 'Domain',
    ...look,
    query: DomainQuery,
    answer: DomainList,
  },
  /** Those that expire first; a hundred at most. */
  listEndingCertificates: {
    method: 'GET',
    path: '/api/domains/ending',
    noun: 'Domain',
    ...look,
    answer: EndingCertificates,
  },
  /** `/install/root.crt` has the certificate itself. */
  getRoot: {
    method: 'GET',
    path: '/api/domains/root',
    noun: 'Domain',
    ...look,
    answer: RootCertificate,
  },
  createDomain: {
    method: 'POST',
    path: '/api/domains',
    noun: 'Domain',
    ...edit,
    isWhole: true,
    body: DomainForm,
    answer: Domain,
    status: 201,
  },
  getDomain: {
    method: 'GET',
    path: '/api/domains/:id',
    noun: 'Domain',
    ...look,
    params: byId,
    answer: Domain,
  },
  updateDomain: {
    method: 'PATCH',
    path: '/api/domains/:id',
    noun: 'Domain',
    ...edit,
    params: byId,
    body: DomainForm,
    answer: Domain,
  },
  /** Who came to the sign-in in the last thirty days, newest first. */
  listSignIns: {
    method: 'GET',
    path: '/api/domains/:id/sign-ins',
    noun: 'Domain',
    ...look,
    params: byId,
    query: SignInQuery,
    answer: SignInList,
  },
  /** Ends all sessions that a person has at the domain. */
  endSessions: {
    method: 'POST',
    path: '/api/domains/:id/sign-ins/end',
    noun: 'Domain',
    ...edit,
    params: byId,
    body: EndSessionsForm,
    answer: deleted,
  },
  /** Orders now what would be tried again later. */
  retryCertificate: {
    method: 'POST',
    path: '/api/domains/:id/certificate/retry',
    noun: 'Domain',
    ...edit,
    params: byId,
    body: nothing,
    answer: Domain,
  },
  deleteDomain: {
    method: 'DELETE',
    path: '/api/domains/:id',
    noun: 'Domain',
    ...edit,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
