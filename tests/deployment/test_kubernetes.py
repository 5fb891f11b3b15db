"""The manifests name only workers, commands, settings and metrics that exist. Kubernetes itself is not here."""

import re
from typing import Any

import pytest

from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import definitions
from abacus.process import STOP_WITHIN_S
from tests.deployment.manifests import (
    KUBERNETES,
    metric_names,
    objects,
    parsed_by_the_command_line,
    read,
    taken_as_settings,
)
from workers import WORKERS


def pods() -> dict[str, Any]:
    """Every pod that is ever made, by the name of the object that makes it."""
    made = {
        name: each["spec"]["template"]["spec"] for kind in ("Deployment", "Job") for name, each in objects(kind).items()
    }
    return made | {
        name: each["spec"]["jobTemplate"]["spec"]["template"]["spec"] for name, each in objects("CronJob").items()
    }


def test_every_worker_has_a_deployment() -> None:
    deployments = objects("Deployment")
    assert deployments.keys() == set(WORKERS)
    for name, deployment in deployments.items():
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert container["args"] == ["worker", name]
        assert deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["metadata"]["labels"]["app.kubernetes.io/component"] == name


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_probed_and_has_time_to_end(name: str) -> None:
    pod = pods()[name]
    (container,) = pod["containers"]
    port = objects("ConfigMap")["abacus"]["data"]["ABACUS_HEALTH_PORT"]
    assert {"name": "health", "containerPort": int(port)} in container["ports"]
    paths = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {
        "startupProbe": {"path": "/healthz", "port": "health"},
        "livenessProbe": {"path": "/healthz", "port": "health"},
        "readinessProbe": {"path": "/readyz", "port": "health"},
    }
    assert pod["terminationGracePeriodSeconds"] > max(30, STOP_WITHIN_S)
    assert objects("Deployment")[name]["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == port


@pytest.mark.parametrize("name", pods())
def test_no_pod_has_more_rights_than_it_needs(name: str) -> None:
    pod = pods()[name]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        assert {"name": "tmp", "mountPath": "/tmp"} in container["volumeMounts"]  # noqa: S108  # a volume in a pod


@pytest.mark.parametrize("name", pods())
def test_every_command_is_one(name: str) -> None:
    (container,) = pods()[name]["containers"]
    parsed_by_the_command_line(container["args"])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["expiry", "runs", "--due"], "No such option: --due"),
        (["expiry", "sweep"], "sweep"),
        (["worker", "--health-port", "0"], "greater than or equal to 1"),
    ],
)
def test_a_command_that_is_none_is_noticed(wrong: list[str], why: str) -> None:
    with pytest.raises(Exception, match=why):
        parsed_by_the_command_line(wrong)


@pytest.mark.parametrize("name", objects("CronJob"))
def test_no_job_starts_while_the_one_before_runs(name: str) -> None:
    spec = objects("CronJob")[name]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["timeZone"] == "Etc/UTC"
    assert re.fullmatch(r"(\S+ ){4}\S+", spec["schedule"])


def test_what_is_done_by_the_clock_is_there() -> None:
    commands = {tuple(pods()[name]["containers"][0]["args"][:2]) for name in objects("CronJob")}
    assert commands == {
        ("expiry", "run"),
        ("tiers", "roll"),
        ("notify", "expiring"),
        ("ledger", "seal"),
        ("ledger", "verify"),
    }


@pytest.mark.parametrize("name", objects("ConfigMap"))
def test_every_setting_is_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_as_settings(objects("ConfigMap")[name]["data"], monkeypatch)


def test_the_secrets_are_settings_and_all_that_is_referred_to(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = {each["metadata"]["name"]: each for each in read(KUBERNETES / "secrets.example.yaml")["items"]}
    for secret in examples.values():
        taken_as_settings(secret["stringData"], monkeypatch)
    containers = [each for pod in pods().values() for each in pod["containers"]]
    sources = [source for each in containers for source in each["envFrom"]]
    one_by_one = [
        setting["valueFrom"]["secretKeyRef"]["name"] for each in containers for setting in each.get("env", ())
    ]
    assert {
        *(source["secretRef"]["name"] for source in sources if "secretRef" in source),
        *one_by_one,
    } == examples.keys()
    assert {source["configMapRef"]["name"] for source in sources if "configMapRef" in source} == set(
        objects("ConfigMap")
    )
    assert {pod["serviceAccountName"] for pod in pods().values()} == set(objects("ServiceAccount"))


def test_a_drain_takes_one_pod_of_a_worker_at_a_time() -> None:
    budgets = objects("PodDisruptionBudget")
    assert budgets.keys() == set(WORKERS)
    for name, budget in budgets.items():
        labels = objects("Deployment")[name]["spec"]["template"]["metadata"]["labels"]
        assert budget["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": labels}}


@pytest.mark.parametrize("name", objects("HorizontalPodAutoscaler"))
def test_what_scales_a_worker_is_measured(name: str) -> None:
    spec = objects("HorizontalPodAutoscaler")[name]["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    assert "replicas" not in objects("Deployment")[name]["spec"]  # or each apply would take its choice back
    rules = {rule["name"]["as"]: rule for rule in read(KUBERNETES / "prometheus-adapter.yaml")["rules"]["external"]}
    for metric in (each["external"]["metric"] for each in spec["metrics"] if each["type"] == "External"):
        assert metric["name"] in metric_names()
        assert rules[metric["name"]]["seriesQuery"].startswith(metric["name"] + "{")
        selected = metric["selector"]["matchLabels"]
        assert selected in (
            {"topic": Settings.model_fields["transactions_topic"].default},
            *(
                {"queue": queue.name}
                for queue in definitions(objects("ConfigMap")["abacus"]["data"]["ABACUS_QUEUE_PREFIX"])
            ),
        )


def test_the_adapter_has_a_rule_for_nothing_else() -> None:
    rules = {rule["name"]["as"] for rule in read(KUBERNETES / "prometheus-adapter.yaml")["rules"]["external"]}
    metrics = {
        each["external"]["metric"]["name"]
        for scaler in objects("HorizontalPodAutoscaler").values()
        for each in scaler["spec"]["metrics"]
        if each["type"] == "External"
    }
    assert rules == metrics
