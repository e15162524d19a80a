import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { administer, type Endpoint, lookAtAll, managePeople } from '@postern/contract/endpoints/endpoint'
import type { Node } from '@postern/contract/nodes'
import type { Pat } from '@postern/contract/pats'
import type { Service } from '@postern/contract/services/services'
import type { Account } from '@postern/contract/sign-in/auth'
import { useMemo } from 'react'
import { useMe } from './queries.ts'

/** The server's own machine has no tunnel: no status, no file, no tokens. */
export const hasTunnel = ({ isLocal }: Pick<Node, 'isLocal'>): boolean => !isLocal

/** A gateway and the local node reach other hosts; a plain node only serves itself. */
export const canNameHost = ({ isGateway, isLocal }: Pick<Node, 'isGateway' | 'isLocal'>): boolean =>
  isGateway || isLocal

/** The console is a service that always exists, at its path. */
export const isConsole = ({ system }: Pick<Service, 'system'>): boolean => system

type Retriable = Pick<Domain, 'id' | 'ssl'> & { certificate: Pick<Domain['certificate'], 'nextTryAt'> }

export type Rules = ReturnType<typeof rulesFor>

/** Who asks: the role, and what a limited person is limited to. */
export type Asker = Pick<Account, 'role' | 'reach'>

/** What a person may do, and to which records. The console offers only that, and the server enforces it. */
export function rulesFor({ role, reach }: Asker) {
  const may = ({ roles, isWhole }: Pick<Endpoint, 'roles' | 'isWhole'>) =>
    roles === undefined || ((roles === 'any' || roles.includes(role)) && !(isWhole && reach))
  const isGiven = ({ id }: { id: number }) => !reach || reach.domains.includes(id)
  const rule =
    <R>(endpoint: Endpoint, allows: (record: R) => boolean = () => true) =>
    (record: R): boolean =>
      may(endpoint) && allows(record)
  return {
    /** For endpoints of a page of its own, whose records all may be changed or none. */
    may,
    /** Whose rows can be ticked, to do to many what may be done to one. */
    many: {
      services: may(endpoints.deleteService),
      nodes: may(endpoints.deleteNode),
      domains: may(endpoints.deleteDomain),
      tokens: may(endpoints.deleteToken),
    },
    node: {
      add: may(endpoints.createNode),
      edit: rule(endpoints.updateNode, hasTunnel),
      download: rule(endpoints.downloadNode, hasTunnel),
      connect: rule(endpoints.enableNode, hasTunnel),
      mute: rule(endpoints.muteNode, hasTunnel),
      remove: rule(endpoints.deleteNode, hasTunnel),
      addToken: rule(endpoints.createToken, hasTunnel),
      expose: may(endpoints.createHttpService),
    },
    token: {
      rotate: rule(
        endpoints.rotateToken,
        ({ revoked, expireAt }: Pick<Pat, 'revoked' | 'expireAt'>) =>
          !revoked && (expireAt === null || Date.parse(expireAt) > Date.now()),
      ),
      revoke: rule(endpoints.revokeToken, ({ revoked }: Pick<Pat, 'revoked'>) => !revoked),
      remove: rule(endpoints.deleteToken),
    },
    service: {
      // A service that an agent publishes can be changed only there.
      edit: rule(
        endpoints.updateHttpService,
        ({ source, system }: Pick<Service, 'source' | 'system'>) =>
          source === null && (!system || role === 'admin'),
      ),
      enable: rule(endpoints.enableService, (service: Pick<Service, 'system'>) => !isConsole(service)),
      mute: rule(endpoints.muteService, (service: Pick<Service, 'system'>) => !isConsole(service)),
      remove: rule(endpoints.deleteService, (service: Pick<Service, 'system'>) => !isConsole(service)),
    },
    /** How the installation is set up. */
    settings: may(administer),
    people: may(managePeople),
    /** What is wrong anywhere, and who is told of it. */
    alerts: may(lookAtAll),
    /** The machines that answer visitors. */
    edges: may(lookAtAll),
    domain: {
      add: may(endpoints.createDomain),
      edit: rule(endpoints.updateDomain, isGiven),
      retry: rule(
        endpoints.retryCertificate,
        // There is an order that a person may want to repeat now.
        (domain: Retriable) =>
          isGiven(domain) && domain.ssl === 'certbot' && domain.certificate.nextTryAt !== null,
      ),
      remove: rule(endpoints.deleteDomain, isGiven),
      /** The owner of an address. */
      endSessions: (domain: Pick<Domain, 'id' | 'allowedEmails'>, email: string) =>
        may(endpoints.endSessions) && isGiven(domain) && domain.allowedEmails.includes(email),
    },
  }
}

/** What the signed-in person may do. Until it is known everything is offered. */
export function useRules(): Rules {
  const { data = UNKNOWN } = useMe()
  return useMemo(() => rulesFor(data), [data])
}

const UNKNOWN: Asker = { role: 'admin', reach: null }
