import type { Edge } from '@postern/contract/edge/edge'
import type { Found } from '@postern/contract/find'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { Blocks, Globe, Server, Workflow } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useConfig } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { copyText } from '../../ui/copy.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { domainRowUrl, domainUrl, serviceRowUrl, urls } from '../../util/urls.ts'
import { useDomainActions } from '../domains/use-domain-actions.tsx'
import { useEdgeActions } from '../edges/use-edge-actions.tsx'
import { useManyServices } from '../many/many-services.ts'
import { useServiceVerbs } from '../service-card/service-actions.tsx'
import { useNodeActions } from '../use-node-actions.tsx'
import {
  type Act,
  allText,
  countServices,
  type Doors,
  domainActs,
  edgeActs,
  exposeActs,
  type Means,
  manyActs,
  nodeActs,
  serviceActs,
} from './acts.ts'
import type { Entry } from './entries.ts'
import type { Reading, Verb } from './read-typed.ts'

const ACTIONS = 'Actions'

/** What can be done with what was found. */
export function useFindings(doors: Doors) {
  const navigate = useNavigate()
  const means = useMeans(doors)
  const named = ({ nodes, domains, services }: Found): Entry[] => [
    ...nodes.map(({ id, name, address }) => ({
      id: `node-${id}`,
      group: 'Nodes',
      icon: Workflow,
      text: name,
      sub: <span className="mono">{address}</span>,
      run: () => navigate(urls.node(id)),
    })),
    ...services.map((service) => ({
      id: `service-${service.id}`,
      group: 'Services',
      icon: Globe,
      text: service.name,
      sub: <ServicePlace service={service} />,
      run: () => navigate(serviceRowUrl(service)),
    })),
    ...domains.map(({ id, domain }) => ({
      id: `domain-${id}`,
      group: 'Domains',
      icon: Globe,
      text: domain,
      mono: true,
      run: () => navigate(domainRowUrl(domain)),
    })),
  ]
  const allOf = (node: Node): Entry[] => {
    const count = countServices(node)
    const [first = '', ...rest] = allText(count)
    const text = `${first.toUpperCase()}${rest.join('')} of ${node.name}`
    const run = () => navigate(urls.services({ node: node.id }))
    const { id, name } = node
    return count > 0 ? [{ id: `all-${id}`, group: ACTIONS, icon: Blocks, text, name, run }] : []
  }
  const ofService = (verb: Verb, service: Service) =>
    asEntries(
      `${verb}-service-${service.id}`,
      serviceActs(verb, service, means),
      <ServicePlace service={service} />,
    )
  const ofNode = (verb: Verb, node: Node) =>
    asEntries(
      `${verb}-node-${node.id}`,
      nodeActs(verb, node, means),
      <span className="mono">{node.address}</span>,
    )
  const expose = (node: Node, type?: Reading['type']) =>
    asEntries(`expose-${node.id}`, exposeActs(node, type, means))
  return {
    /** The records, to go to. */
    named,
    allOf,
    /** The edges, to go to. */
    edges: (edges: readonly Edge[]): Entry[] =>
      edges.map(({ id, name, place }) => ({
        id: `edge-${id}`,
        group: 'Edges',
        icon: Server,
        text: name,
        sub: place,
        run: () => navigate(urls.edges()),
      })),
    /** What a verb does with each of them. */
    edgeActs: (edges: readonly Edge[], verb: Verb): Entry[] =>
      edges.flatMap((edge) => asEntries(`${verb}-edge-${edge.id}`, edgeActs(verb, edge, means), edge.place)),
    /** What offers itself for the best of them. */
    offered: ({ nodes: [node], services: [service] }: Found): Entry[] => [
      ...(service ? ofService('logs', service) : []),
      ...(node ? [...allOf(node), ...expose(node)] : []),
    ],
    /** What a verb does with each of them. */
    acts: ({ nodes, services, domains }: Found, verb: Verb, { isAll, type, text }: Reading): Entry[] => {
      const many = nodes.flatMap((node) => asEntries(`many-${node.id}`, manyActs(verb, node, means)))
      if (isAll) return many
      // A search also matches backends, but a verb means a name: `disable local` is not about `localhost`.
      const called = services.filter(({ name, publicAccess }) =>
        `${name} ${publicAccess ?? ''}`.toLowerCase().includes(text.toLowerCase()),
      )
      return [
        ...called.flatMap((service) => ofService(verb, service)),
        ...nodes.flatMap((node) => (verb === 'add' ? expose(node, type) : ofNode(verb, node))),
        ...domains.flatMap((domain) =>
          asEntries(`${verb}-domain-${domain.id}`, domainActs(verb, domain, means)),
        ),
        ...many,
      ]
    },
  }
}

function asEntries(id: string, acts: readonly Act[], sub?: Entry['sub']): Entry[] {
  return acts.map((act, index) => ({ ...act, id: `${id}-${index}`, group: ACTIONS, sub }))
}

function useMeans(doors: Doors): Means {
  const navigate = useNavigate()
  const publicUrl = useConfig().data?.publicUrl
  return {
    doors,
    navigate,
    can: useRules(),
    copy: (address) =>
      void copyText(address).then(
        (isCopied) => isCopied && toast.success('Copied to the clipboard.', address),
      ),
    addressOf: (domain) => domainUrl(domain, publicUrl),
    verbsOf: useServiceVerbs(),
    nodes: useNodeActions(),
    edges: useEdgeActions(),
    domains: useDomainActions(),
    many: useManyServices(),
  }
}

/** Where a service is, and that it is off. */
function ServicePlace({
  service: { domain, nodeName, backendHost, backendPort, enabled },
}: {
  service: Service
}) {
  const place = domain ?? `${backendHost ?? 'localhost'}:${backendPort}`
  return (
    <>
      <span className="mono">{place}</span> on <bdi>{nodeName}</bdi>
      {!enabled && ', disabled'}
    </>
  )
}
