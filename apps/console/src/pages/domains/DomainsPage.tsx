import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { ServiceType } from '@postern/contract/services/services'
import { Lock, Pencil, Plus, RotateCw, ScrollText, Trash2 } from 'lucide-react'
import { Suspense, useCallback, useState } from 'react'
import { useNavigate } from 'react-router'
import { useConfig } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { useDomainActions } from '../../components/domains/use-domain-actions.tsx'
import { DomainsBar } from '../../components/many/bars.ts'
import { Page } from '../../components/Page.tsx'
import { TrafficCell, TrafficRows } from '../../components/traffic/traffic.tsx'
import { DomainDialog } from '../../forms/dialogs.ts'
import { usePageParams } from '../../table/list-params.ts'
import { NothingMatches, QueryTable } from '../../table/QueryTable.tsx'
import { useList } from '../../table/use-list.ts'
import { useSelection } from '../../table/use-selection.ts'
import { Button } from '../../ui/Button.tsx'
import { INSIDE_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { SearchField } from '../../ui/input/SearchField.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { formatDate } from '../../util/time.ts'
import { domainUrl, urls } from '../../util/urls.ts'
import { CertificateCell } from './CertificateCell.tsx'
import { DomainHistory } from './DomainHistory.tsx'
import { DomainRoot } from './DomainRoot.tsx'
import { DomainServices } from './DomainServices.tsx'
import { DomainSignIns } from './DomainSignIns.tsx'
import { DomainTraffic } from './DomainTraffic.tsx'
import './DomainsPage.css'

const COLUMNS: readonly Column<Domain>[] = [
  {
    head: 'Domain',
    width: 'w-30',
    className: 'c-name',
    sortBy: 'domain',
    render: ({ domain, authentication }) => (
      <>
        <DomainLink domain={domain} />
        {authentication && <SignInMark />}
      </>
    ),
  },
  {
    head: 'Last 24 Hours',
    width: 'w-carried',
    label: 'Last 24 Hours',
    className: 'c-carried',
    render: ({ id }) => <TrafficCell id={id} />,
  },
  { head: 'SSL Certs', className: 'c-full', render: (domain) => <CertificateCell domain={domain} /> },
  {
    head: 'Created At',
    width: 'w-day',
    className: 'tn',
    label: 'Created At',
    sortBy: 'created_at',
    render: (domain) => formatDate(domain.created_at),
  },
]

const BELOW = {
  label: ({ domain }: Domain) => `Services of ${domain}`,
  render: (row: Domain) => (
    <>
      {ServiceType.options.map((type) => (
        <DomainServices key={type} domain={row.domain} type={type} />
      ))}
      <DomainTraffic domain={row} />
      <DomainHistory domain={row} />
      {row.authentication && <DomainSignIns domain={row} />}
      {row.certificate.kind === 'self-signed' && <DomainRoot domain={row.domain} />}
    </>
  ),
}

export function DomainsPage() {
  const [form, setForm] = useState<{ domain: Domain | undefined } | null>(null)
  const domains = useList({ endpoint: endpoints.listDomains, state: usePageParams() })
  const selection = useSelection({ list: domains })
  const canTick = useRules().many.domains
  const renderMenu = useCallback(
    (domain: Domain) => <DomainMenu domain={domain} onEdit={() => setForm({ domain })} />,
    [],
  )
  const add = useRules().domain.add && (
    <Button variant="primary" icon={Plus} onClick={() => setForm({ domain: undefined })}>
      Add Domain
    </Button>
  )
  return (
    <Page title="Domains">
      <header className="head">
        <h1>Domains</h1>
        <div className="acts">{add}</div>
      </header>
      <div className="tools">
        <SearchField
          label="Search domains"
          placeholder="Search domain"
          value={domains.params.search}
          onSearch={(search) => domains.change({ search }, { replace: true })}
        />
      </div>
      <TrafficRows of="domains" rows={domains.query.data?.data}>
        <QueryTable
          className="domains"
          caption="Domains"
          noun="domains"
          list={domains}
          columns={COLUMNS}
          renderMenu={renderMenu}
          expand={BELOW}
          selection={canTick ? selection : undefined}
          empty={
            <EmptyState
              door="ajar"
              title="No domains yet"
              text="Add a domain that points to this server, then publish services under it."
            >
              {add}
            </EmptyState>
          }
          noMatch={<NothingMatches list={domains} text="No domains match." />}
        />
      </TrafficRows>
      <Suspense>
        {selection.count > 0 && <DomainsBar list={domains} selection={selection} />}
        {form && <DomainDialog domain={form.domain} onClose={() => setForm(null)} />}
      </Suspense>
    </Page>
  )
}

function DomainLink({ domain }: { domain: string }) {
  const publicUrl = useConfig().data?.publicUrl
  return (
    <a {...INSIDE_ROW} className="mono" href={domainUrl(domain, publicUrl)} target="_blank" rel="noreferrer">
      {domain}
    </a>
  )
}

function DomainMenu({ domain, onEdit }: { domain: Domain; onEdit: () => void }) {
  const navigate = useNavigate()
  const actions = useDomainActions()
  const can = useRules().domain
  const retry = { text: 'Try again', icon: RotateCw, onSelect: () => actions.tryAgain(domain) }
  return (
    <Menu
      label={`Actions for ${domain.domain}`}
      groups={[
        [
          {
            text: 'Logs Monitor',
            icon: ScrollText,
            onSelect: () => navigate(urls.domainLogs(domain.domain)),
          },
        ],
        [
          can.edit(domain) && { text: 'Edit Domain', icon: Pencil, onSelect: onEdit },
          can.retry(domain) && retry,
        ],
        [
          can.remove(domain) && {
            text: 'Delete Domain',
            icon: Trash2,
            danger: true,
            onSelect: () => actions.remove(domain),
          },
        ],
      ]}
    />
  )
}

function SignInMark() {
  return (
    <span className="markic" title="OAuth2 authentication">
      <Lock className="ic" aria-hidden="true" />
      <span className="sr">OAuth2 authentication</span>
    </span>
  )
}
