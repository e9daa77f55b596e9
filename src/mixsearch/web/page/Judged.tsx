// What judged documents or rows say, with 95% intervals.

import { percent, plural, whole } from "./format";
import type { AuditResult, Estimate } from "./types";

export function Judged({ audit, things }: { audit: AuditResult; things: "documents" | "rows" }) {
  const range = ({ estimate, low, high }: Estimate, format: (value: number) => string) => `${format(estimate)} (${format(low)} to ${format(high)})`;
  return (
    <>
      By {plural(audit.n_judged, `judged ${things.slice(0, -1)}`)}: {range(audit.n_members, whole)} of {whole(audit.n_rows)} {things}; of those listed,{" "}
      {range(audit.precision, percent)} belong to it, and {range(audit.recall, percent)} of all are listed.
    </>
  );
}
