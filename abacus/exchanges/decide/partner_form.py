"""The parts of a programme's form that say how its partner is reached, and where members sign in. Pure."""

from typing import Final

from abacus.documents.form.types import Branch, Clock, Field, Flag, Group, OneOf, Rows, Text
from abacus.exchanges.decide.programme_reader import MOST_REDIRECTS

CARRIER: Final = Group(
    [
        OneOf(
            "way",
            "How both houses talk",
            [
                Branch(
                    "by HTTP",
                    [
                        Field(
                            name="url",
                            sort=Text(),
                            label="Address",
                            help="https, and of the public internet; the paths of the contract come behind it.",
                            required=True,
                            says="{}",
                        ),
                        Field(
                            name="remembers_refusals",
                            sort=Flag(),
                            label="Remembers refusals",
                            help="As its conformance report says. If not, a refusal is cancelled before points are "
                            "given back.",
                            usual="Yes.",
                        ),
                    ],
                ),
                Branch(
                    "by files",
                    [
                        Field(
                            name="place",
                            sort=Text(),
                            label="Place",
                            help="A folder, or s3://bucket/prefix.",
                            required=True,
                            says="files in {}",
                        ),
                        Field(
                            name="cut_off",
                            sort=Clock(),
                            label="Closed at",
                            help="By the time zone above.",
                            required=True,
                            says="closed at {}",
                        ),
                    ],
                ),
            ],
        )
    ]
)
SIGN_IN: Final = Group(
    [
        Field(
            name="authorize_url",
            sort=Text(),
            label="Where members sign in",
            help="https, as all these addresses.",
            required=True,
            says="at {}",
        ),
        Field(
            name="token_url", sort=Text(), label="Where codes become tokens", required=True, says="with tokens from {}"
        ),
        Field(
            name="account_url",
            sort=Text(),
            label="Which account it is",
            help="It is asked with the token, and tells number and holder.",
            required=True,
            says="and accounts from {}",
        ),
        Field(
            name="client_id",
            sort=Text(),
            label="Client",
            help="The house's id at the partner. Its secret is kept by abacus exchanges client-secret.",
            required=True,
            says="as {}",
        ),
        Field(
            name="redirect_uris",
            sort=Rows(Text(), "address", MOST_REDIRECTS),
            label="Back to",
            help="Addresses of the apps, as they are registered at the partner.",
            required=True,
            says="back to {}",
        ),
        Field(name="scope", sort=Text(), label="Scope", usual="None is asked for.", says="with the scope {}"),
        Field(
            name="issuer",
            sort=Text(),
            label="Issuer",
            help="With it the partner has to say it beside the code.",
            usual="Not looked at.",
            says="issued by {}",
        ),
    ]
)
