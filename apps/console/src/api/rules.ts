import type { Role } from '@postern/contract/auth'
import { endpoints } from '@postern/contract/console-endpoints'
import type { Domain } from '@postern/contract/domains'
import type { Endpoint } from '@postern/contract/endpoint'
import type { Node } from '@postern/contract/nodes'
import type { Pat } from '@postern/contract/pats'
import type { Service } from '@postern/contract/services'
import { useMemo } from 'react'
import { useMe } from './queries.ts'

/** The server's own machine has none, so nothing of a tunnel: no status, no file, no tokens. */
export const hasTunnel = ({ isLocal }: Pick<Node, 'isLocal'>): boolean => !isLocal

/** A gateway and the local node reach other hosts; a plain node only serves itself. */
export const canNameHost = ({ isGateway, isLocal }: Pick<Node, 'isGateway' | 'isLocal'>): boolean =>
  isGateway || isLocal

/** The console is a service that is always there, at its path. */
export const isConsole = ({ system }: Pick<Service, 'system'>): boolean => system

type Retriable = Pick<Domain, 'ssl'> & { certificate: Pick<Domain['certificate'], 'nextTryAt'> }

export type Rules = ReturnType<typeof rulesFor>

/** What a person in this role may do, and to which records: the console offers no more, and the server enforces it. */
export function rulesFor(role: Role) {
  const may = ({ roles }: Endpoint) => roles === undefined || roles === 'any' || roles.includes(role)
  const rule =
    <R>(endpoint: Endpoint, allows: (record: R) => boolean = () => true) =>
    (record: R): boolean =>
      may(endpoint) && allows(record)
  return {
    node: {
      add: may(endpoints.createNode),
      edit: rule(endpoints.updateNode, hasTunnel),
      download: rule(endpoints.downloadNode, hasTunnel),
      connect: rule(endpoints.enableNode, hasTunnel),
      remove: rule(endpoints.deleteNode, hasTunnel),
      addToken: rule(endpoints.createToken, hasTunnel),
      expose: may(endpoints.createHttpService),
    },
    token: {
      revoke: rule(endpoints.revokeToken, ({ revoked }: Pick<Pat, 'revoked'>) => !revoked),
      remove: rule(endpoints.deleteToken),
    },
    service: {
      // What an agent publishes changes only there.
      edit: rule(endpoints.updateHttpService, ({ source }: Pick<Service, 'source'>) => source === null),
      enable: rule(endpoints.enableService, (service: Pick<Service, 'system'>) => !isConsole(service)),
      remove: rule(endpoints.deleteService, (service: Pick<Service, 'system'>) => !isConsole(service)),
    },
    domain: {
      add: may(endpoints.createDomain),
      edit: rule(endpoints.updateDomain),
      retry: rule(
        endpoints.retryCertificate,
        // There is something that a person may want to try at once.
        ({ ssl, certificate }: Retriable) => ssl === 'certbot' && certificate.nextTryAt !== null,
      ),
      remove: rule(endpoints.deleteDomain),
      /** The owner of an address. */
      endSessions: (domain: Pick<Domain, 'allowedEmails'>, email: string) =>
        may(endpoints.endSessions) && domain.allowedEmails.includes(email),
    },
  }
}

/** What the signed-in person may do. Until the role is known everything is offered. */
export function useRules(): Rules {
  const role = useMe().data?.role ?? 'admin'
  return useMemo(() => rulesFor(role), [role])
}
