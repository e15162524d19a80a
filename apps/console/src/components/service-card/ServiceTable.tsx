import { titleOfSource } from '@postern/contract/services/publishing'
import { type Service, type ServiceType, typeName } from '@postern/contract/services/services'
import { LockKeyhole, type LucideIcon, Shield } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useRules } from '../../api/rules.ts'
import { QueryTable } from '../../table/QueryTable.tsx'
import type { List } from '../../table/use-list.ts'
import { INSIDE_ROW, OPENS_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { StatusDot } from '../../ui/feedback/StatusDot.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { Tooltip } from '../../ui/overlay/Tooltip.tsx'
import { urls } from '../../util/urls.ts'
import { MutedMark } from '../mute/MutedMark.tsx'
import { PublicAccess, ServiceState } from './ServiceFacts.tsx'
import { serviceMenu, useServiceVerbs } from './service-actions.tsx'
import { fixedText, proxyText, restrictionText } from './service-text.ts'
import { useMeantRow } from './use-meant-row.ts'
import './ServiceTable.css'

const ServiceInfoDialog = lazy(async () => ({
  default: (await import('./ServiceInfoDialog.tsx')).ServiceInfoDialog,
}))

const NAME: Column<Service> = {
  head: 'Name',
  width: 'w-20',
  className: 'c-name',
  render: (service) => <ServiceName service={service} />,
}
export const SORTED_NAME: Column<Service> = { ...NAME, sortBy: 'name' }
export const INGRESS: Column<Service> = {
  head: 'Ingress Config',
  width: 'w-38',
  className: 'c-full',
  render: (service) => (
    <div className="route">
      <PublicAccess service={service} inRow />
      <span className="to mono">{proxyText(service)}</span>
    </div>
  ),
}
const NODE: Column<Service> = {
  head: 'Node',
  width: 'w-15',
  className: 'c-full',
  render: ({ nodeId, nodeName }) => (
    <span className="sub">
      on{' '}
      <Link {...INSIDE_ROW} to={urls.node(nodeId)} dir="auto">
        {nodeName}
      </Link>
    </span>
  ),
}
export const STATE: Column<Service> = {
  head: 'State',
  className: 'c-full',
  render: (service) => <ServiceState service={service} />,
}

const OF_NODE = [SORTED_NAME, INGRESS, STATE]
const OF_DOMAIN = [NAME, INGRESS, NODE, STATE]

interface Props {
  type: ServiceType
  list: List<Service>
  empty: ReactNode
  /** Where the list can be searched. */
  noMatch?: ReactNode
  /**
   * The same function each time. In the context of a node its services can be edited; elsewhere each shows its node
   * and links to it.
   */
  onEdit?: (service: Service) => void
}

/** Services of one type, with a menu for each. */
export function ServiceTable({ type, list, empty, noMatch, onEdit }: Props) {
  const [info, setInfo] = useState<Service | null>(null)
  const renderMenu = useServiceMenu(setInfo, onEdit)
  return (
    <>
      <QueryTable
        inCard
        className="svcs"
        caption={`${typeName(type)} Services`}
        noun="services"
        list={list}
        columns={onEdit ? OF_NODE : OF_DOMAIN}
        empty={empty}
        noMatch={noMatch}
        renderMenu={renderMenu}
      />
      <Suspense>{info && <ServiceInfoDialog service={info} onClose={() => setInfo(null)} />}</Suspense>
    </>
  )
}

/** @param hasNode the row may be of any node, and its menu leads there, too */
export function useServiceMenu(
  onInfo: (service: Service) => void,
  onEdit: Props['onEdit'],
  hasNode = onEdit === undefined,
) {
  const navigate = useNavigate()
  const verbsOf = useServiceVerbs()
  const can = useRules().service
  return useCallback(
    (service: Service) => (
      <Menu
        label={`Actions for ${service.name}`}
        groups={serviceMenu(service, can, {
          ...verbsOf(service),
          info: () => onInfo(service),
          ...(onEdit && { edit: () => onEdit(service) }),
          ...(hasNode && { goToNode: () => navigate(urls.node(service.nodeId)) }),
        })}
      />
    ),
    [onInfo, onEdit, hasNode, navigate, verbsOf, can],
  )
}

function ServiceName({ service }: { service: Service }) {
  const restriction = restrictionText(service)
  const link = useMeantRow(service)
  return (
    <span className="svc">
      <StatusDot status={dotOf(service)} />
      <Link {...OPENS_ROW} ref={link} to={urls.serviceLogs(service)} title="Logs Monitor">
        <b dir="auto">{service.name}</b>
      </Link>
      {service.source && (
        <Badge kind="mute" tooltip={fixedText(service.source, service.nodeName)} tabIndex={-1}>
          {titleOfSource(service.source)}
        </Badge>
      )}
      {service.type === 'tcp' && service.ssl && <Mark icon={LockKeyhole} text="TLS ends at the proxy" />}
      {restriction && <Mark icon={Shield} text={restriction} />}
      <MutedMark mute={service.mute} />
    </span>
  )
}

/** Green beside the word *Failed* would be contradictory. */
function dotOf({ enabled, state: { phase } }: Service) {
  if (!enabled) return 'disabled'
  return phase === 'live' || phase === 'checking' || phase === 'applying' ? 'enabled' : 'unreached'
}

function Mark({ icon: Icon, text }: { icon: LucideIcon; text: string }) {
  return (
    <Tooltip text={text} className="markic">
      <Icon className="ic" />
      <span className="sr">{text}</span>
    </Tooltip>
  )
}
